// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// placementErrors returns the reasons why instances of each group found no place.
func (v *View) placementErrors() map[string]string {
	if v.reasons != nil {
		return v.reasons
	}
	v.reasons = make(map[string]string)
	if e := v.R.BlockedEvaluation(v.Key.Namespace, v.Key.ID); e != nil {
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
	case len(m.QuotaExhausted) > 0:
		return waitsForQuota(m.QuotaExhausted)
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
	text := waitsForRoom + strings.Join(parts, ", ")
	if len(m.QuotaExhausted) > 0 {
		text += "; others wait for " + strings.TrimPrefix(waitsForQuota(m.QuotaExhausted), "waits for ")
	}
	return text
}

// notPlaced says why an instance waits, as a trouble of its job.
func notPlaced(m *api.PlacementMetrics) string {
	text := noRoom(m)
	if m != nil && len(m.QuotaExhausted) > 0 && !strings.HasPrefix(text, waitsForRoom) {
		return "it " + text
	}
	return "no node can take it: " + strings.TrimPrefix(text, waitsForRoom)
}

// waitsForQuota says which limits an instance would exceed, and where to look.
func waitsForQuota(exhausted []string) string {
	return "waits for " + strings.Join(exhausted, ", ") + "; see: reeve quota status " + api.QuotaInText(exhausted[0])
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
func (v *View) explainStep(t *tree.Tree, p *tree.Phase, st, ahead *tree.Step) string {
	its := st.ExtraOrZero()
	switch is := st.Shown(); {
	case its.Forced != nil:
		text := "force-completed by " + decision.OrUnknown(its.Forced.By) + " at " + decision.Clock(its.Forced.Time)
		if its.Forced.Reason != "" {
			text += ": " + its.Forced.Reason
		}
		return text
	case is == tree.Prepared && st.On != nil:
		if why := v.placementErrors()[st.On.Group.Name]; why != "" {
			return strings.TrimPrefix(st.Why+"; "+why, "; ")
		}
	case is == tree.Pending && st.Why == "":
		return p.QueueReason(t, st, ahead)
	case is == tree.Starting && st.Why == "" && st.On != nil:
		for w := range waitingTasks(st.On.Alloc) {
			return w.words
		}
	}
	return st.Why
}
