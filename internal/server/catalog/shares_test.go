// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// ready returns a ready stack of a unit, such as "dev shop 1.0.0", that exposes hosts.
func ready(text string, hosts ...string) *api.Stack {
	words := strings.Fields(text)
	version, err := api.ParseStackVersion(words[2])
	if err != nil {
		panic(err)
	}
	s := &api.Stack{
		Name: api.StackName(words[1], version, "aaaaaaaa"), Namespace: words[0], Unit: words[1], Version: version,
		Spec: &api.StackSpec{}, Status: api.StackReady, DeployedAt: time.Unix(1, 0).UTC(),
	}
	for _, host := range hosts {
		s.Spec.Expose = append(s.Spec.Expose, &api.StackExposure{Host: host})
	}
	return s
}

// change puts an object in place of another, and returns the shares that a follower receives,
// each as "namespace stack share ...".
func (w *world) change(old, new any) []string {
	c := state.Change{Table: state.TableStacks, Op: state.Put, Old: old, New: new}
	if new == nil {
		c.Op = state.Delete
	}
	for _, object := range []any{old, new} {
		switch object.(type) {
		case *api.Shift:
			c.Table = state.TableShifts
		case *api.Unit:
			c.Table = state.TableUnits
		}
	}
	w.index++
	before := w.c.past.next
	w.c.apply(&state.Batch{Index: w.index, Changes: []state.Change{c}})
	words := []string{}
	for n := before; n < w.c.past.next; n++ {
		m, _, _ := w.c.past.take(n)
		for _, s := range m.Stacks {
			words = append(words, shareText(s))
		}
	}
	return words
}

func shareText(s *api.StackShare) string {
	if s.Removed {
		return fmt.Sprintf("%s %s removed", s.Namespace, s.Stack)
	}
	text := fmt.Sprintf("%s %s %s %v", s.Namespace, strings.TrimSuffix(s.Stack, "--aaaaaaaa"), s.Status, s.Share)
	if s.Target {
		text += " target"
	}
	if s.ShiftEnd != "" {
		text += " " + s.ShiftEnd
	}
	return text + fmt.Sprintf("%v%v", s.Tags, s.Elsewhere)
}

func TestFollowersReceiveTheChangedStacksAlone(t *testing.T) {
	w := newWorld()
	one, next, two := ready("dev shop 1.0.0", "shop.test"), ready("dev shop 1.1.0", "shop.test"), ready("dev shop 2.0.0", "new.test", "shop.test")
	shift := &api.Shift{ID: "s", Namespace: "dev", Unit: "shop", Major: 1, From: one.Name, To: next.Name, Status: api.ShiftRunning}
	moved := shift.Copy()
	moved.Share = 0.25
	over := moved.Copy()
	over.Status = api.ShiftReversed
	garbage := next.Copy()
	garbage.Status = api.StackGarbage
	gone := garbage.Copy()
	gone.Status = api.StackTerminated
	rules := &api.Unit{Namespace: "dev", Name: "shop", Targets: map[uint32]string{1: one.Name}}
	tagged := &api.Unit{Namespace: "dev", Name: "shop", Targets: rules.Targets, Tags: map[string]api.StackVersion{"canary": next.Version}}
	everywhere := &api.Unit{
		Namespace: api.AnyNamespace, Name: "shop", Deprecated: []*api.Deprecation{{Version: two.Version.Feature()}},
		Tags: map[string]api.StackVersion{"canary": one.Version, "stable": one.Version},
	}
	for _, step := range []struct {
		name     string
		old, new any
		want     []string
	}{
		{"the first stack", nil, one, []string{"dev shop--1-0-0 ready 1 target[][]"}},
		{"another unit", nil, ready("dev cart 1.0.0"), []string{"dev cart--1-0-0 ready 1 target[][]"}},
		{"a major version that exposes the host too", nil, two, []string{"dev shop--2-0-0 ready 1 target[][shop.test]"}},
		{"the target of 1.x is stored", nil, rules, []string{}},
		{"a newer version", nil, next, []string{"dev shop--1-1-0 ready 0[][]"}},
		{"a shift", nil, shift, []string{"dev shop--1-0-0 ready 1 target from[][]", "dev shop--1-1-0 ready 0 to[][]"}},
		{"its progress", shift, moved, []string{"dev shop--1-0-0 ready 0.75 target from[][]", "dev shop--1-1-0 ready 0.25 to[][]"}},
		{"its end", moved, over, []string{"dev shop--1-0-0 ready 1 target[][]", "dev shop--1-1-0 ready 0[][]"}},
		{"a tag", rules, tagged, []string{"dev shop--1-1-0 ready 0[canary][]"}},
		{"rules of all namespaces", nil, everywhere, []string{"dev shop--1-0-0 ready 1 target[stable][]", "dev shop--2-0-0 deprecated 1 target[][shop.test]"}},
		{"the end of these rules", everywhere, nil, []string{"dev shop--1-0-0 ready 1 target[][]", "dev shop--2-0-0 ready 1 target[][shop.test]"}},
		{"garbage", next, garbage, []string{"dev shop--1-1-0 garbage 0[canary][]"}},
		{"the end of a stack", garbage, gone, []string{"dev shop--1-1-0--aaaaaaaa removed"}},
		{"its record is forgotten", gone, nil, []string{}},
		{"a change that concerns no traffic", two, func() any { n := two.Copy(); n.StatusDescription = "x"; return n }(), []string{}},
		{"the record of a live stack is forgotten", one, nil, []string{"dev shop--1-0-0--aaaaaaaa removed", "dev shop--2-0-0 ready 1 target[][]"}},
	} {
		if diff := cmp.Diff(step.want, w.change(step.old, step.new)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

// A new follower gets the same description as one that has received all changes.
func TestACompleteMessageDescribesAllStacks(t *testing.T) {
	w := newWorld()
	one := ready("dev shop 1.0.0", "shop.test")
	w.change(nil, one)
	w.change(nil, ready("dev/sandbox shop 1.0.0"))
	m, _ := w.c.complete()
	words := []string{}
	for _, s := range m.Stacks {
		words = append(words, shareText(s))
	}
	if diff := cmp.Diff([]string{"dev shop--1-0-0 ready 1 target[][]", "dev/sandbox shop--1-0-0 ready 1 target[][]"}, words); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.change(one, nil)
	if len(w.c.shares.units) != 1 || len(w.c.shares.now) != 1 || len(w.c.shares.named["shop"]) != 1 {
		t.Errorf("%d units and %d shares are remembered, want those of one stack", len(w.c.shares.units), len(w.c.shares.now))
	}
}
