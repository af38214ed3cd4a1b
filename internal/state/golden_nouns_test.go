// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

// objectCommands are commands of declared nouns, by the name of the golden file.
func objectCommands() map[string]Command {
	return map[string]Command{
		"PutNamespace": PutNamespace(&api.Namespace{
			Name: "dev", Description: "for developers", Meta: map[string]string{"team": "web"},
			Capabilities: &api.NamespaceCapabilities{EnabledTaskDrivers: []string{"exec"}, DisabledNetworkModes: []string{"host"}},
		}, ptr(uint64(3))),
		"DeleteNamespace": DeleteNamespace("dev", nil),
	}
}

// namespaceStore holds what the format learned to hold with namespaces.
func namespaceStore(t testing.TB) *Store {
	s := New()
	job := testJob("web")
	job.Namespace = "dev/sandbox"
	for i, c := range []Command{
		PutNamespace(&api.Namespace{Name: "default", Description: "changed"}, nil),
		PutNamespace(&api.Namespace{
			Name: "dev", Description: "for developers", Meta: map[string]string{"team": "web"},
			Capabilities: &api.NamespaceCapabilities{EnabledTaskDrivers: []string{"exec"}, DisabledNetworkModes: []string{"host"}},
		}, nil),
		PutNamespace(&api.Namespace{Name: "dev/sandbox"}, ptr(uint64(0))),
		&RegisterJob{Job: job},
	} {
		must(t, s.Apply(uint64(5+i), []Command{c}))
	}
	return s
}
