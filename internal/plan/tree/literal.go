// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// This file executes strategies literally: those of declared plans, and of every tree
// that sets Literal. The generated deploy plan has its own rules (candidates.go, and
// strategy.go of package derive).

const canarySuffix = "-canary"

// WhyCanary is the message of a canary phase that waits.
const WhyCanary = "canary: waits for continue"

// openPhases sets which phases the plan's strategy lets begin.
func (t *Tree) openPhases() {
	complete := make(map[string]bool, len(t.Phases))
	before := true // all phases so far are complete
	for _, p := range t.Phases {
		if p.Canaries {
			p.Open = true // whatever comes before: see canary.go
			continue
		}
		switch t.Strategy {
		case api.StrategyParallel:
			p.Open = true
		case api.StrategyDependency:
			p.Open = false // until it is known that those before it are complete
		default:
			p.Open = before
		}
		done := p.IsComplete()
		complete[p.Name] = done
		before = before && done
	}
	if t.Strategy != api.StrategyDependency {
		return
	}
	for _, p := range t.Phases {
		p.Open = p.Canaries || !slices.ContainsFunc(p.After, func(name string) bool { return !complete[name] })
	}
}

// candidatesByStrategy returns the steps that the phase's strategy lets be done now.
func (p *Phase) candidatesByStrategy(dirty *DirtySet, m *Scratch, now time.Time) []*Step {
	if p.Unpromoted {
		return nil
	}
	chosen := m.chosenFor(len(p.Steps))
	inner, isCanary := strings.CutSuffix(p.Strategy, canarySuffix)
	if isCanary && !p.Uncanary {
		p.blockCanarySteps()
	}
	room, ordered := math.MaxInt, inner == api.StrategySerial
	if ordered {
		room = max(p.Limit, 1) - p.Begun()
		if room > 0 && p.staggers(now) {
			room = 0
		}
	}
	for i := range p.Steps {
		st := &p.Steps[i]
		switch {
		case st.Status == Complete:
		case st.On != nil && dirty.conflicts(st):
			room--
		case st.Action == Later, st.Action == Update && !st.Proves:
			if !p.Held {
				chosen = append(chosen, st) // takes nothing away, adds nothing
			}
		case st.Action == Start && st.Status == Prepared:
			chosen = append(chosen, st) // what has begun is brought to its end
			room--
		case st.ExtraOrZero().Begun && p.begins() && p.isDue(i):
			chosen = append(chosen, st) // it was counted
		case st.Status == Waiting:
			room-- // it holds its place in the order
		case st.Action == None: // what has begun was counted; what another plan begins anew keeps its place
			if st.Status == Pending {
				room--
			}
		case room > 0 && p.begins() && p.isDue(i):
			chosen = append(chosen, st)
			room--
		case ordered:
			room-- // nothing overtakes it
		}
	}
	return chosen
}

// Begun counts the steps under way.
func (p *Phase) Begun() (n int) {
	for i := range p.Steps {
		switch st := &p.Steps[i]; {
		case st.Action != None:
			if st.ExtraOrZero().Begun && p.isDue(i) || st.Action == Update && !st.Settles && !st.Proves {
				n++ // what is updated in place goes on, and is not known to be well
			}
		case st.Status == Starting, st.Status == Started, st.Status == Prepared, st.Status == Delayed, st.Status == Error:
			n++
		}
	}
	return n
}

// isDue reports whether the steps that come before this one in any strategy are
// complete: earlier ones of the same instance, and those that it names.
func (p *Phase) isDue(i int) bool {
	st := &p.Steps[i]
	if i > 0 && p.Strategy != api.StrategyDependency && st.On != nil && p.Steps[i-1].On == st.On && !p.Steps[i-1].isSettled() {
		return false
	}
	for _, before := range st.ExtraOrZero().After {
		if !p.Steps[before].isSettled() {
			return false
		}
	}
	return true
}

// blockCanarySteps marks the open steps of a canary phase that wait for an operator: nothing
// is begun before the first continue, and only the first step before the second.
// A step that an operator completed needs no continue; the others always do.
func (p *Phase) blockCanarySteps() {
	gates := len(p.released)
	var first *Step
	for i := range p.Steps {
		st := &p.Steps[i]
		if st.Status != Complete || st.ExtraOrZero().Forced != nil || p.isReleased(st) {
			first = st
			break
		}
	}
	if first == nil {
		return
	}
	if first.ExtraOrZero().Forced != nil && !p.isReleased(first) {
		gates++
	}
	shown := 2 - gates // of what waits
	for i := range p.Steps {
		st := &p.Steps[i]
		if gates >= 2 || st.isSettled() || st == first && gates == 1 || st.Action == None || st.begun() {
			continue
		}
		if st.Blocked, st.Action = st.Action, None; shown > 0 {
			st.Status, st.Why = Waiting, WhyCanary
		}
		shown--
		if p.Waits++; p.Waits == 1 {
			p.waiting = st
		}
	}
}

// Next is the step that the phase's next continue lets begin.
func (p *Phase) Next() *Step { return p.waiting }

// isReleased reports whether the first continue let the step begin.
func (p *Phase) isReleased(st *Step) bool {
	if len(p.released) == 0 || st.On == nil {
		return false
	}
	d := p.released[0]
	if d.Group == "" { // it was given to several phases at once
		return st.On.Alloc != nil && st.On.Alloc.CreateTime >= d.Time
	}
	return d.Group == st.On.Group.Name && d.Index == st.On.Index && d.Node == st.On.Node && slices.Equal(d.Tasks, st.TaskNames())
}

// staggers reports whether nothing is begun yet because a step was completed not
// long ago. The next one says until when.
func (p *Phase) staggers(now time.Time) bool {
	next := slices.IndexFunc(p.Steps, func(st Step) bool { return st.Status == Pending && st.Action != None })
	if p.Stagger <= 0 || next < 0 || !p.begins() {
		return false
	}
	for i := range p.Steps {
		if st := &p.Steps[i]; st.Status == Complete && st.ExtraOrZero().Forced == nil && st.On != nil && st.On.Alloc != nil {
			if at := reachedAt(st.On.Alloc).Add(p.Stagger); at.After(now) && at.After(p.Until) {
				p.Until, p.Waiter = at, st.On.Alloc
			}
		}
	}
	if p.Waiter == nil {
		return false
	}
	st := &p.Steps[next]
	st.Status, st.Until, st.Why = Delayed, p.Until, "staggered: the step before it was completed not long ago"
	return true
}

// reachedAt is when the allocation was found healthy; or else when the last of
// its tasks began or ended.
func reachedAt(a *api.Allocation) (at time.Time) {
	if a.IsHealthy() {
		return a.DeploymentStatus.Timestamp
	}
	for _, t := range a.TaskStates {
		for _, is := range []time.Time{t.StartedAt, t.FinishedAt} {
			if is.After(at) {
				at = is
			}
		}
	}
	return at
}
