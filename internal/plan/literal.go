// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// This file carries out strategies to the letter: those of plans that jobs
// declare, and of every tree that sets literal. What the generated deploy plan
// may do besides is in strategy.go.

const canarySuffix = "-canary"

// whyCanary is why a canary phase does not go on.
const whyCanary = "canary: waits for continue"

// openPhases sets which phases the plan's strategy lets begin.
func (t *tree) openPhases() {
	complete := make(map[string]bool, len(t.phases))
	before := true // all phases so far are complete
	for _, p := range t.phases {
		if p.canaries {
			p.open = true // whatever comes before: see canary.go
			continue
		}
		switch t.strategy {
		case api.StrategyParallel:
			p.open = true
		case api.StrategyDependency:
			p.open = false // until it is known that those before it are complete
		default:
			p.open = before
		}
		done := p.isComplete()
		complete[p.name] = done
		before = before && done
	}
	if t.strategy != api.StrategyDependency {
		return
	}
	for _, p := range t.phases {
		p.open = p.canaries || !slices.ContainsFunc(p.after, func(name string) bool { return !complete[name] })
	}
}

// candidatesByStrategy returns the steps that the phase's strategy lets be done now.
func (p *phase) candidatesByStrategy(dirty *dirtySet, m *treeScratch, now time.Time) []*step {
	if p.unpromoted {
		return nil
	}
	chosen := m.chosenFor(len(p.steps))
	inner, isCanary := strings.CutSuffix(p.strategy, canarySuffix)
	if isCanary && !p.uncanary {
		p.blockCanarySteps()
	}
	room, ordered := math.MaxInt, inner == api.StrategySerial
	if ordered {
		room = max(p.limit, 1) - p.begun()
		if room > 0 && p.staggers(now) {
			room = 0
		}
	}
	for i := range p.steps {
		st := &p.steps[i]
		switch {
		case st.status == Complete:
		case st.on != nil && dirty.conflicts(st):
			room--
		case st.action == later, st.action == update && !st.proves:
			if !p.held {
				chosen = append(chosen, st) // takes nothing away, adds nothing
			}
		case st.action == start && st.status == Prepared:
			chosen = append(chosen, st) // what has begun is brought to its end
			room--
		case st.extraOrZero().begun && p.begins() && p.isDue(i):
			chosen = append(chosen, st) // it was counted
		case st.status == Waiting:
			room-- // it holds its place in the order
		case st.action == none: // what has begun was counted; what another plan begins anew keeps its place
			if st.status == Pending {
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

// begun counts the steps under way.
func (p *phase) begun() (n int) {
	for i := range p.steps {
		switch st := &p.steps[i]; {
		case st.action != none:
			if st.extraOrZero().begun && p.isDue(i) || st.action == update && !st.settles && !st.proves {
				n++ // what is updated in place goes on, and is not known to be well
			}
		case st.status == Starting, st.status == Started, st.status == Prepared, st.status == Delayed, st.status == Error:
			n++
		}
	}
	return n
}

// isDue reports whether the steps that come before this one in any strategy are
// complete: earlier ones of the same instance, and those that it names.
func (p *phase) isDue(i int) bool {
	st := &p.steps[i]
	if i > 0 && p.strategy != api.StrategyDependency && st.on != nil && p.steps[i-1].on == st.on && !p.steps[i-1].isSettled() {
		return false
	}
	for _, before := range st.extraOrZero().after {
		if !p.steps[before].isSettled() {
			return false
		}
	}
	return true
}

// blockCanarySteps marks the open steps of a canary phase that wait for an operator: nothing
// is begun before the first continue, and only the first step before the second.
// A step that an operator completed needs no continue; the others always do.
func (p *phase) blockCanarySteps() {
	gates := len(p.released)
	var first *step
	for i := range p.steps {
		st := &p.steps[i]
		if st.status != Complete || st.extraOrZero().forced != nil || p.isReleased(st) {
			first = st
			break
		}
	}
	if first == nil {
		return
	}
	if first.extraOrZero().forced != nil && !p.isReleased(first) {
		gates++
	}
	shown := 2 - gates // of what waits
	for i := range p.steps {
		st := &p.steps[i]
		if gates >= 2 || st.isSettled() || st == first && gates == 1 || st.action == none || st.begun() {
			continue
		}
		if st.blocked, st.action = st.action, none; shown > 0 {
			st.status, st.why = Waiting, whyCanary
		}
		shown--
		if p.waits++; p.waits == 1 {
			p.waiting = st
		}
	}
}

// next is the step that the phase's next continue lets begin.
func (p *phase) next() *step { return p.waiting }

// isReleased reports whether the first continue let the step begin.
func (p *phase) isReleased(st *step) bool {
	if len(p.released) == 0 || st.on == nil {
		return false
	}
	d := p.released[0]
	if d.Group == "" { // it was given to several phases at once
		return st.on.alloc != nil && st.on.alloc.CreateTime >= d.Time
	}
	return d.Group == st.on.group.name && d.Index == st.on.index && d.Node == st.on.node && slices.Equal(d.Tasks, st.taskNames())
}

// staggers reports whether nothing is begun yet because a step was completed not
// long ago. The next one says until when.
func (p *phase) staggers(now time.Time) bool {
	next := slices.IndexFunc(p.steps, func(st step) bool { return st.status == Pending && st.action != none })
	if p.stagger <= 0 || next < 0 || !p.begins() {
		return false
	}
	for i := range p.steps {
		if st := &p.steps[i]; st.status == Complete && st.extraOrZero().forced == nil && st.on != nil && st.on.alloc != nil {
			if at := reachedAt(st.on.alloc).Add(p.stagger); at.After(now) && at.After(p.until) {
				p.until, p.waiter = at, st.on.alloc
			}
		}
	}
	if p.waiter == nil {
		return false
	}
	st := &p.steps[next]
	st.status, st.until, st.why = Delayed, p.until, "staggered: the step before it was completed not long ago"
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
