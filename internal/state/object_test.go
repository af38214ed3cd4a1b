// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestCommandsThatWriteTheSameStackShareNoEntry(t *testing.T) {
	s := fullStack("shop", "1.0.0", "aaaaaaaa", api.StackPending)
	want := AppendWrites(nil, PutStack(s))
	for what, c := range map[string]Command{
		"a deletion":   ForgetStack(s),
		"a deployment": &DeployStacks{Stacks: []*api.Stack{nil, s}, Jobs: []*api.Job{nil, testJob(s.Name)}},
		"an extension": &SweepStacks{Extended: []StackExtension{{Stacks: []string{jobName("default", s.Name)}}}},
		"a verb":       &Decide{Decision: fullDecision(), Stack: s},
		"a decision":   &SweepStacks{Decided: []StackDecision{{Namespace: "default", Name: s.Name}}},
	} {
		if diff := cmp.Diff(want, AppendWrites(nil, c)); diff != "" {
			t.Errorf("%s of a stack (-put +got):\n%s", what, diff)
		}
	}
}

// TestCommandsThatMoveATargetWriteTheUnit covers commands that change the target of a unit beside the object that they
// name: the rules of a unit share an index with no other write of them.
func TestCommandsThatMoveATargetWriteTheUnit(t *testing.T) {
	unit := AppendWrites(nil, PutUnit(&api.Unit{Namespace: "default", Name: "shop"}))[0]
	stack := func(status string) *api.Stack { return fullStack("shop", "1.0.0", "aaaaaaaa", status) }
	shift := func(status string) *api.Shift {
		s := fullShift("s", "a", "b")
		s.Status = status
		return s
	}
	for _, test := range []struct {
		what string
		c    Command
		want bool
	}{
		{"a stack that becomes ready", PutStack(stack(api.StackReady)), true},
		{"a stack that warms", PutStack(stack(api.StackWarming)), false},
		{"a ready stack with a decision", &Decide{Decision: fullDecision(), Stack: stack(api.StackReady)}, true},
		{"a deployment of a ready stack", &DeployStacks{Stacks: []*api.Stack{stack(api.StackReady)}, Jobs: []*api.Job{nil}}, true},
		{"the progress of a shift", PutShift(shift(api.ShiftRunning)), false},
		{"the end of a shift", PutShift(shift(api.ShiftComplete)), true},
		{"the reversal of a shift", PutShift(shift(api.ShiftReversed)), true},
		{"the end of a shift by a decision", &Decide{Decision: fullDecision(), Shift: shift(api.ShiftComplete)}, true},
		{"a shift that begins", &BeginShift{Shift: shift(api.ShiftRunning)}, false},
		{"a shift that supersedes another", &BeginShift{Shift: shift(api.ShiftRunning), Ended: shift(api.ShiftSuperseded)}, true},
		{"a promotion", &BeginShift{Shift: shift(api.ShiftRunning), Stack: stack(api.StackReady)}, true},
	} {
		if got := slices.Contains(AppendWrites(nil, test.c), unit); got != test.want {
			t.Errorf("%s writes the unit: %v, want %v", test.what, got, test.want)
		}
	}
}
