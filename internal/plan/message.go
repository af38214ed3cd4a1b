// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// This file says why something is as it is: for whatever waits, what it waits
// for, and since when it has been so.

// holdReason says why the plan waits; "" if it does not. D is the job's deployment.
func (t *tree) holdReason(d *api.Deployment) string {
	switch {
	case t.message != "":
		return t.message
	case t.heldBy != nil:
		return whyHeld(t.heldBy)
	case t.held && d != nil && t.name == api.PlanDeploy:
		return "its deployment is " + d.Status
	}
	return ""
}

// waitReason says, where no phases are shown, what keeps a plan in a status in which
// it waits: the reason of the first phase that does.
func (t *tree) waitReason(is Status) string {
	if is != Waiting && is != Delayed {
		return ""
	}
	for _, ph := range t.phases {
		count := ph.tally()
		if count.status(ph.held) != is {
			continue
		}
		why := ph.explain(t, is)
		for i := 0; i < len(ph.steps) && why == ""; i++ {
			if st := &ph.steps[i]; st.status == is {
				why = st.why
			}
		}
		if why != "" {
			return "phase " + ph.name + ": " + why
		}
	}
	return ""
}

// resumesAt is when the first of the plan's steps goes on that are DELAYED; zero if
// that is not known.
func (t *tree) resumesAt() (at time.Time) {
	for _, ph := range t.phases {
		for i := range ph.steps {
			if st := &ph.steps[i]; st.status == Delayed && !st.until.IsZero() && (at.IsZero() || st.until.Before(at)) {
				at = st.until
			}
		}
	}
	return at
}

// explain says why the phase waits; "" if it does not.
func (p *phase) explain(t *tree, is Status) string {
	switch {
	case p.why != "":
		return p.why
	case is == Complete, is == Error:
		return ""
	case p.heldBy != nil:
		return whyHeld(p.heldBy)
	case p.waits > 0 && is == Waiting:
		return p.canaryReason()
	case p.waiter != nil:
		return ""
	case !p.open && !t.held:
		if before := t.before(p); before != "" {
			return comesAfter + "phase " + before
		}
	}
	return ""
}

// canaryReason says what a canary phase waits for: the step that was let begin, as long
// as it is under way; else an operator.
func (p *phase) canaryReason() string {
	for i := range p.steps {
		st := &p.steps[i]
		switch is := st.shown(); is {
		case Prepared, Starting, Started, Delayed:
			return "canary: " + st.key() + " is " + string(is) + "; the rest waits for continue"
		}
	}
	return whyCanary
}

// before names the phase that the given one waits for.
func (t *tree) before(p *phase) string {
	for _, other := range t.phases {
		switch {
		case other == p:
			if t.strategy != api.StrategyDependency {
				return ""
			}
		case other.isComplete():
		case t.strategy == api.StrategyDependency && !slices.Contains(p.after, other.name):
		default:
			return other.name
		}
	}
	return ""
}

// placementErrors returns the reasons why instances of each group found no place.
func (v *View) placementErrors() map[string]string {
	if v.reasons != nil {
		return v.reasons
	}
	v.reasons = make(map[string]string)
	if e := v.r.BlockedEvaluation(v.key.Namespace, v.key.ID); e != nil {
		for name, m := range e.FailedGroups {
			v.reasons[name] = noRoom(m)
		}
	}
	return v.reasons
}

// waitsForRoom begins the messages of what no node can take.
const waitsForRoom = "waits for room: "

// noRoom says what the nodes lack.
func noRoom(m *api.PlacementMetrics) string {
	switch {
	case m == nil:
		return "no node may run it"
	case m.NodesEvaluated > 0 || m.NodesFiltered > 0 || m.NodesExhausted > 0:
	case m.NodesInPool == 0:
		return fmt.Sprintf(waitsForRoom+"no node is in node pool %q", m.NodePool)
	default:
		return fmt.Sprintf(waitsForRoom+"no node of pool %q is ready in the job's datacenters", m.NodePool)
	}
	var parts []string
	if m.NodesFiltered > 0 {
		parts = append(parts, count(m.NodesFiltered, "may not run it")+joinReasons(m.ConstraintFiltered))
	}
	if m.NodesExhausted > 0 {
		parts = append(parts, count(m.NodesExhausted, "full")+joinReasons(m.DimensionExhausted))
	}
	return waitsForRoom + strings.Join(parts, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 node " + what
	}
	return fmt.Sprintf("%d nodes %s", n, what)
}

// joinReasons lists reasons, the one that holds for most nodes first.
func joinReasons(counts map[string]int) string {
	if len(counts) == 0 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	return " (" + strings.Join(names, ", ") + ")"
}

// explainStep says why the step is as it is, or what it waits for. Ahead is the first
// step of the phase that is not complete.
func (s *View) explainStep(t *tree, p *phase, st, ahead *step) string {
	its := st.extraOrZero()
	switch is := st.shown(); {
	case its.forced != nil:
		text := "force-completed by " + orUnknown(its.forced.By) + " at " + clock(its.forced.Time)
		if its.forced.Reason != "" {
			text += ": " + its.forced.Reason
		}
		return text
	case is == Prepared && st.on != nil:
		if why := s.placementErrors()[st.on.group.name]; why != "" {
			return strings.TrimPrefix(st.why+"; "+why, "; ")
		}
	case is == Pending && st.why == "":
		return p.queueReason(t, st, ahead)
	}
	return st.why
}

// comesAfter begins the messages of what waits for nothing but its turn.
const comesAfter = "comes after "

// queueReason says what a step that has not begun comes after.
func (p *phase) queueReason(t *tree, st, ahead *step) string {
	switch {
	case t.held, p.held:
		return "" // the plan or the phase says so
	case st.next:
		return "" // it is its turn
	case !p.open:
		if before := t.before(p); before != "" {
			return comesAfter + "phase " + before
		}
	case ahead != nil && ahead != st:
		return comesAfter + ahead.key()
	}
	return ""
}

// since is when the step was last seen to move; zero if that is not known.
func (st *step) since() (at time.Time) {
	its := st.extraOrZero()
	switch {
	case its.forced != nil:
		return time.Unix(0, its.forced.Time)
	case its.held != nil:
		return time.Unix(0, its.held.Time)
	case st.on == nil || st.on.alloc == nil:
		return at
	}
	a := st.on.alloc
	switch st.shown() {
	case Complete:
		return reachedAt(a)
	case Started:
		for _, t := range a.TaskStates {
			if t.StartedAt.After(at) {
				at = t.StartedAt
			}
		}
	case Starting:
		at = time.Unix(0, a.CreateTime)
		if a.Launches != nil || a.DesiredStatus == api.AllocDesiredStop {
			at = time.Unix(0, a.ModifyTime) // when it was told last
		}
	case Delayed, Error:
		if a.IsClientTerminal() {
			at = failedAt(a)
		}
	}
	return at
}
