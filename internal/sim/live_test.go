// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestLiveRejectsNodesThatCannotRunAnything(t *testing.T) {
	good := NodeGroup{Count: 1, Name: "a", CPU: 1000, Cores: 1, Memory: 512}
	for name, spoil := range map[string]func(*NodeGroup){
		"count":  func(g *NodeGroup) { g.Count = -1 },
		"name":   func(g *NodeGroup) { g.Name = "" },
		"cpu":    func(g *NodeGroup) { g.CPU = 0 },
		"memory": func(g *NodeGroup) { g.Memory = -5 },
	} {
		g := good
		spoil(&g)
		err := Live(t.Context(), "http://127.0.0.1:1", "", []NodeGroup{good, g}, func() { t.Errorf("%s: the nodes are ready", name) })
		if api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "simulated nodes") {
			t.Errorf("%s: %v, want an error that names the nodes", name, err)
		}
	}
	if err := Live(t.Context(), "http://127.0.0.1:1", "", []NodeGroup{good}, func() { t.Error("the nodes are ready without a server") }); err == nil {
		t.Error("without a server: no error")
	}
}
