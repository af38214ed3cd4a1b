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
