// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// Tasks in the node's network have the resolver that their group's network block names.
func TestContainerResolverInTheHostsNetwork(t *testing.T) {
	t.Parallel()
	m, image := containerMachine(t, nil)
	const file = "/etc/resolv.conf"
	for id, job := range map[string]*api.Job{
		"isolated":  testbed.Job("isolated", "exec", 1, map[string]any{"command": "/bin/sh", "args": []any{"-c", "cat " + file + "; exec sleep 60"}}),
		"container": testbed.Job("container", "container", 1, map[string]any{"image": image, "args": []any{"cat", file, ",", "sleep", "60s"}}),
	} {
		job.Groups[0].Tasks[0].Resources.MemoryMB = ptr(64)
		job.Groups[0].Networks = []*api.Network{{Mode: "host", DNS: &api.DNS{
			Servers: []string{"192.0.2.53"}, Searches: []string{"${NOMAD_GROUP_NAME}.example"}, Options: []string{"ndots:2"},
		}}}
		m.register(job)
		alloc := m.allocations(id, "runs", running(1))[0].ID
		want := "nameserver 192.0.2.53\nsearch " + job.Groups[0].Name + ".example\noptions ndots:2\n"
		m.eventually("the resolver of "+id, func(context.Context) error {
			if got := m.taskLog(alloc, "stdout"); got != want {
				return fmt.Errorf("it is %q, want %q", got, want)
			}
			return nil
		})
	}
}
