// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func introducedNode(pool, name string) *api.Node {
	return &api.Node{ID: "5f3e", Name: name, NodePool: pool}
}

// TestANodeStaysInThePoolOfItsIntroduction registers it with other claims, first and later, and
// after an operator purged it.
func TestANodeStaysInThePoolOfItsIntroduction(t *testing.T) {
	s := New()
	index := uint64(4)
	apply := func(c Command) error { index++; return s.Apply(index, []Command{c})[0] }
	if err := apply(PutIntroduction(goldenIntroduction())); err != nil {
		t.Fatal(err)
	}
	for _, life := range []string{"at first", "again", "after a purge"} {
		for _, attack := range []struct{ pool, name, say string }{
			{"default", "edge-7", `it is in pool "default"`}, {"", "edge-7", `it is in pool "default"`}, {"gpu", "edge-7", `puts it into pool "edge"`},
			{"edge", "edge-8", `token names it "edge-7"`}, {"edge", "EDGE-7", `token names it "edge-7"`},
		} {
			if err := apply(&RegisterNode{Node: introducedNode(attack.pool, attack.name)}); api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), attack.say) {
				t.Errorf("%s: pool %q, name %q: %v", life, attack.pool, attack.name, err)
			}
		}
		if err := apply(&RegisterNode{Node: introducedNode("edge", "edge-7")}); err != nil {
			t.Fatalf("%s: %v", life, err)
		}
		if n := s.Snapshot().Node("5f3e"); n.Introduction == nil || n.Introduction.TokenID != "00ff" {
			t.Errorf("%s: the node shows %+v", life, n.Introduction)
		}
		if life == "again" {
			if err := apply(&DeleteNode{IDs: []string{"5f3e"}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	forged := introducedNode("edge", "n")
	forged.ID, forged.Introduction = "other", &api.NodeIntroduction{TokenID: "00ff"}
	if err := apply(&RegisterNode{Node: forged}); err != nil || s.Snapshot().Node("other").Introduction != nil {
		t.Errorf("a node says that it was introduced: %v, %+v", err, s.Snapshot().Node("other"))
	}
}

// TestATokenForOneMachineIsUsedOnce stores two machines with one token, as two servers in a race
// propose them.
func TestATokenForOneMachineIsUsedOnce(t *testing.T) {
	for _, once := range []bool{true, false} {
		s := New()
		first, second := goldenIntroduction(), goldenIntroduction()
		first.Once, second.Once = once, once
		second.NodeID, second.Key = "77aa", []byte{3}
		errs := s.Apply(5, []Command{PutIntroduction(first), PutIntroduction(second)})
		if errs[0] != nil || (errs[1] != nil) != once || once && !strings.Contains(errs[1].Error(), "node 5f3e joined with it") {
			t.Errorf("once %v: %v", once, errs)
		}
	}
}

// TestOneOfTwoMachinesHasTheNameOfTheirIntroductions registers machines that joined at the same time, each with
// its own token for one name.
func TestOneOfTwoMachinesHasTheNameOfTheirIntroductions(t *testing.T) {
	s := New()
	index := uint64(4)
	apply := func(c Command) error { index++; return s.Apply(index, []Command{c})[0] }
	first, second := goldenIntroduction(), goldenIntroduction()
	second.NodeID, second.TokenID, second.Key = "77aa", "00fe", []byte{3}
	for _, i := range []*Introduction{first, second} {
		if err := apply(PutIntroduction(i)); err != nil {
			t.Fatal(err)
		}
	}
	register := func(id, status string) error {
		n := introducedNode("edge", "edge-7")
		n.ID, n.Status = id, status
		return apply(&RegisterNode{Node: n})
	}
	if err := register(first.NodeID, api.NodeStatusReady); err != nil {
		t.Fatal(err)
	}
	if err := register(second.NodeID, api.NodeStatusReady); api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), `node 5f3e has the name "edge-7"`) {
		t.Errorf("a second machine with the name: %v", err)
	}
	if err := register(first.NodeID, api.NodeStatusReady); err != nil {
		t.Errorf("the first machine registers again: %v", err)
	}
	if err := apply(&UpdateNodeStatus{NodeID: first.NodeID, Status: api.NodeStatusDown}); err != nil {
		t.Fatal(err)
	}
	if err := register(second.NodeID, api.NodeStatusReady); err != nil {
		t.Errorf("the second machine, after the first one ended: %v", err)
	}
	if err := register(first.NodeID, api.NodeStatusReady); err != nil {
		t.Errorf("a node that was registered before: %v", err) // its tasks may still run
	}
}
