// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestConfigurationsOfThePackages validates the files that packages install: the examples form
// a cluster, and the initial file asks for a choice.
func TestConfigurationsOfThePackages(t *testing.T) {
	load := func(name string) Config {
		t.Helper()
		c, err := LoadConfig([]string{filepath.Join("../../packaging", name)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, tc := range []struct {
		name                    string
		bootstrap, server, node bool
		join                    int
	}{
		{"examples/first-server.hcl", true, true, false, 0},
		{"examples/server.hcl", false, true, false, 1},
		{"examples/node.hcl", false, false, true, 3},
	} {
		c := load(tc.name)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if c.Bootstrap != tc.bootstrap || c.Server.Enabled != tc.server || c.Client.Enabled != tc.node || len(c.Join) != tc.join {
			t.Errorf("%s: bootstrap %t, server %t, node %t, join %v", tc.name, c.Bootstrap, c.Server.Enabled, c.Client.Enabled, c.Join)
		}
		if c.DataDir != DefaultDataDir || c.HTTPAddr != ClusterHTTPAddr {
			t.Errorf("%s: data in %s, port at %s", tc.name, c.DataDir, c.HTTPAddr)
		}
	}
	c := load("agent.hcl")
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "neither a server nor a client") {
		t.Errorf("the initial configuration: %v", err)
	}
}
