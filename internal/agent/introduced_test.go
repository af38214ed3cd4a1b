// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestAConfigurationCannotChangeAnIntroduction binds agents with other pools and names.
func TestAConfigurationCannotChangeAnIntroduction(t *testing.T) {
	for what, c := range map[string]struct {
		named          bool
		name, pool     string
		asName, asPool string // of the token
		refused        bool
	}{
		"nothing decided":        {true, "a", "p", "", "", false},
		"the defaults":           {false, "host", "", "a", "p", false},
		"the same":               {true, "a", "p", "a", "p", false},
		"another pool":           {false, "host", "q", "", "p", true},
		"the default pool, said": {false, "host", "default", "", "p", true},
		"another name":           {true, "b", "", "a", "p", true},
		"a name of its own":      {true, "b", "", "", "p", false},
	} {
		a := &Agent{named: c.named, config: Config{Name: c.name, Client: Client{NodePool: c.pool}}}
		err := a.bind(c.asPool, c.asName)
		if (err != nil) != c.refused || err != nil && api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("%s: %v", what, err)
		}
		if got := a.config; err == nil && (c.asPool != "" && got.Client.NodePool != c.asPool || c.asName != "" && got.Name != c.asName) {
			t.Errorf("%s: the agent is %q in pool %q", what, got.Name, got.Client.NodePool)
		}
	}
}
