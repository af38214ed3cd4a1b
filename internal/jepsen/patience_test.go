// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/testbed"
)

func TestOnlyAContradictionOutlivesThePatienceOfTheHarness(t *testing.T) {
	slow, wrong := errors.New("2 of 3 instances run"), contradict("2 processes of %s", "web[0]")
	for name, c := range map[string]struct {
		err                 error
		tooLong             bool
		violates, undecides bool
	}{
		"success":                            {nil, false, false, false},
		"success at the last moment":         {nil, true, false, false},
		"slowness":                           {slow, true, false, true},
		"an agent that ended":                {slow, false, true, false},
		"a contradiction":                    {wrong, true, true, false},
		"a contradiction inside of an error": {fmt.Errorf("the job: %w", wrong), true, true, false},
	} {
		var f findings
		if err := judge(c.err, c.tooLong); err != nil {
			f.add(fmt.Errorf("check: %w", err))
		}
		if len(f.violations) > 0 != c.violates || len(f.undecided) > 0 != c.undecides || f.clean() == (c.violates || c.undecides) {
			t.Errorf("%s: violations %q, undecided %q", name, f.violations, f.undecided)
		}
		if c.undecides && !strings.Contains(f.undecided[0], patience.String()) {
			t.Errorf("%s: %q does not tell the time", name, f.undecided[0])
		}
	}
}

// TestOverlappingFaultsSuitEachOther draws rounds of clusters with three servers.
func TestOverlappingFaultsSuitEachOther(t *testing.T) {
	all, err := findFaults(nil, everything)
	if err != nil {
		t.Fatal(err)
	}
	at := scene{cluster: &cluster{all: make([]*testbed.Machine, 3)}, random: rand.New(rand.NewPCG(1, 2))}
	pairs := map[string]bool{}
	for i := range 5000 {
		drawn, err := (&run{}).draw(all[i%len(all)], all, at)
		if err != nil {
			t.Fatal(err)
		}
		if len(drawn) == 1 {
			continue
		}
		a, b := drawn[0], drawn[1]
		pairs[drawn.mix().name()] = true
		if kinds := []kind{a.kind, b.kind}; slices.Contains(kinds, calmKind) || slices.Contains(kinds, logKind) || b.kind == memberKind {
			t.Errorf("%s overlap", drawn)
		}
		common := slices.ContainsFunc(a.scene.targets, func(s int) bool { return slices.Contains(b.scene.targets, s) })
		if common && a.needsOwnTargets(b.fault) {
			t.Errorf("%s overlap on the same server", drawn)
		}
		if targets := drawn.targets(); len(slices.Compact(targets)) != len(targets) {
			t.Errorf("%s: targets %v", drawn, targets)
		}
	}
	if len(pairs) < 200 {
		t.Errorf("only %d pairs of faults were drawn: %v", len(pairs), pairs)
	}
	if _, err := findFaults([]string{"split+mute-leader"}, everything); err == nil || !strings.Contains(err.Error(), "different kinds") {
		t.Errorf("two faults of links: %v", err)
	}
	both, err := findFaults([]string{"kill-leader+hang-disk-leader"}, everything)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&run{}).draw(both[0], nil, at); err == nil || !strings.Contains(err.Error(), "same targets") {
		t.Errorf("a dead leader with a bad disk: %v", err)
	}
}
