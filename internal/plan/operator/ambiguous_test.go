// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"errors"
	"slices"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/derive"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/tree"
	"github.com/reeve-run/reeve/internal/plan/view"
)

func TestInstancesOnNodesOfOneShortNameAreToldApart(t *testing.T) {
	g := &facts.Group{Name: "log", Instances: []facts.Instance{{Node: "0a1b2c3d-one"}, {Node: "0a1b2c3d-two"}, {Node: "9f9f9f9f-three"}}}
	s := &facts.Facts{Groups: []*facts.Group{g}}
	for name, want := range map[string]*facts.Instance{
		"log@0a1b2c3d-two": &g.Instances[1], "log@9f9f9f9f": &g.Instances[2], "log@9f9f9f9f-three": &g.Instances[2],
	} {
		if got, err := findInstance(s, name); got != want || err != nil {
			t.Errorf("%s: %v, %v; want that on %s", name, got, err, want.Node)
		}
	}
	_, err := findInstance(s, "log@0a1b2c3d")
	var e *api.Error
	if want := []string{"log@0a1b2c3d-one", "log@0a1b2c3d-two"}; !errors.As(err, &e) || e.Code != api.CodeInvalid || !slices.Equal(e.Detail, want) {
		t.Errorf("a short name that fits two nodes: %v, want an error that lists %q", err, want)
	}
}

func TestPhasesOfNodesOfOneNameAreToldApart(t *testing.T) {
	one, two := &api.Node{ID: "one", Name: "n"}, &api.Node{ID: "two", Name: "n"}
	tr := &tree.Tree{Name: api.PlanDrain, Phases: []*tree.Phase{{Name: "n@one", Node: one}, {Name: "n@two", Node: two}}}
	c := &decisionTarget{view: &view.View{Plans: &derive.Plans{Facts: &facts.Facts{}}}, tree: tr, req: &api.PlanRequest{Phase: "n@two"}}
	if err := c.findPhase(); err != nil || c.phase != tr.Phases[1] {
		t.Errorf("the full name: %v, %v", c.phase, err)
	}
	c.req.Phase = "n"
	var e *api.Error
	if err := c.findPhase(); !errors.As(err, &e) || len(e.Detail) != 2 {
		t.Errorf("a name that two nodes have: %v, want an error that lists both", err)
	}
}
