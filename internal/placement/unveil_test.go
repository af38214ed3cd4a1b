// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestTasksThatUnveilNeedLandlock(t *testing.T) {
	driver := map[string]*api.DriverStatus{"exec": {Detected: true, Healthy: true}}
	node := func(id string, attributes map[string]string) *api.Node {
		n := &api.Node{ID: id, Drivers: driver, Attributes: attributes}
		n.ComputedClass = api.ComputeClass(n)
		return n
	}
	job := &api.Job{ID: "j"}
	group := &api.Group{Name: "g", Tasks: []*api.Task{{Name: "a", Driver: "exec"}, {Name: "web", Driver: "exec", Config: map[string]any{"unveil": []any{"r:/etc/ssl"}}}}}
	for _, c := range []struct {
		node *api.Node
		want string
	}{
		{node("with", map[string]string{api.NodeAttrLandlock: "v7"}), ""},
		{node("without", map[string]string{api.NodeAttrLandlock: api.LandlockUnavailable}), "unveil of task web needs Landlock, which the node's kernel lacks"},
		{node("older", nil), "unveil of task web needs a node whose agent supports it"},
	} {
		if reason, ok := IsFeasible(job, group, c.node); ok != (c.want == "") || !strings.Contains(reason, c.want) {
			t.Errorf("node %s: %q, %v; want %q", c.node.ID, reason, ok, c.want)
		}
	}
	signature := func(g *api.Group) string { return string(appendSignature(nil, job, g, Policy{})) }
	plain := &api.Group{Name: "g", Tasks: []*api.Task{{Name: "a", Driver: "exec"}, {Name: "web", Driver: "exec"}}}
	if signature(group) == signature(plain) {
		t.Error("groups with and without unveil share their cached feasibility")
	}
}
