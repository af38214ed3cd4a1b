// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/plan/tree"
	"github.com/reeve-run/reeve/internal/plan/update"
	"github.com/reeve-run/reeve/internal/state"
)

// moving returns the allocations of instances that were moved to the newest version
// and are not known to be healthy.
func (w *world) moving() (moving []*api.Allocation) {
	for _, a := range w.allocations() {
		previous := w.snapshot().Allocation(a.PreviousAllocation)
		if !a.IsTerminal() && !a.IsCanary() && a.JobVersion() == w.newest().Version && !a.IsHealthy() &&
			previous != nil && previous.DesiredReason == api.ReasonUpdated {
			moving = append(moving, a)
		}
	}
	return moving
}

// rolls reports whether the job is deployed group by group with a limit.
func rolls(job *api.Job) bool {
	return !job.RunsToCompletion() && slices.ContainsFunc(job.Groups, func(g *api.Group) bool {
		return g.Update != nil && (*g.Update.MaxParallel > 0 || g.Update.MaxParallelPercent != nil)
	})
}

// checkMoved checks that an evaluation moves at most max_parallel instances of a
// group, failed instances included, if the newest version replaces deployed instances of
// the group. before holds the allocations of instances that were being moved before the
// evaluation.
func (w *world) checkMoved(t *rapid.T, before []*api.Allocation, o *placement.Outcome) {
	job := w.newest()
	if job.RunsToCompletion() {
		return
	}
	replaces := map[string]bool{} // groups that differ from one of the versions since the last deployed one
	proven := false
	for _, old := range w.snapshot().JobVersions(job.Namespace, job.ID) {
		if old.Version >= job.Version || old.CreateIndex != job.CreateIndex || old.Stop {
			continue // a stopped version is never deployed
		}
		if old.Stable && api.SpecEqual(old, job) {
			return // a revert replaces failed instances at once
		}
		if !proven {
			for _, was := range old.Groups {
				if g := job.Group(was.Name); g != nil && (update.Destructive(old, was, job, g) || update.MovesAbout(old, was, job, g)) {
					replaces[g.Name] = true
				}
			}
		}
		proven = proven || old.Stable || !rolls(old)
	}
	moved := map[string]int{}
	for _, s := range o.Stop {
		if s.Reason == api.ReasonUpdated {
			moved[s.Alloc.Group]++
		}
	}
	moving := map[string]int{}
	for _, a := range before {
		// The instance of a job that runs on every node ends with its node, or if an operator
		// stops it on a node that accepts no new allocations.
		is := w.snapshot().Allocation(a.ID)
		if !job.RunsOnEveryNode() || is.ClientStatus != api.AllocClientLost && is.DesiredReason != api.ReasonEvicted {
			moving[a.Group]++
		}
	}
	for group, n := range moved {
		if limit := w.limit(group); proven && replaces[group] && limit > 0 && n+moving[group] > limit {
			t.Fatalf("%d instances of %s were moved beside %d that are not known to be healthy, max_parallel is %d\n%s%s", n, group, moving[group], limit, w.listing(), w.tree())
		}
	}
}

// checkHeld ends the evaluation as a worker does, and checks that the job is held
// while its deployment waits for an operator, and that a held job is not dead.
func (w *world) checkHeld(t *rapid.T, r *plan.Result) {
	end := w.evaluation()
	end.Status, end.QueuedAllocations, end.Held = api.EvalStatusComplete, map[string]int{}, r.Held
	w.apply(&state.PutEvaluations{Evaluations: []*api.Evaluation{end}})
	job := w.newest()
	if job == nil {
		return
	}
	if job.Held != (r.Held != "") || job.Held && job.Status == api.JobStatusDead {
		t.Fatalf("the job is %s, held %v (%s), and waits for an operator with %q", job.Status, job.Held, job.HeldReason, r.Held)
	}
	may, must := false, false
	plans, recovered := w.plans(), map[string]bool{} // by instance: recovery waits for its room
	for _, p := range plans {
		for _, ph := range p.Phases {
			for _, st := range ph.Steps {
				recovered[api.InstanceName(st.Group, st.Index)] = recovered[api.InstanceName(st.Group, st.Index)] || p.Name == api.PlanRecovery && st.Status == tree.Prepared
			}
		}
	}
	for _, p := range plans {
		may = may || p.Interrupted
		moves := false // something of it is under way, or its turn comes by itself
		for _, ph := range p.Phases {
			may = may || ph.Interrupted
			for _, st := range ph.Steps {
				waits := st.Status == tree.Waiting && !strings.HasSuffix(st.Message, "when the canaries of every group are")
				may = may || waits
				moves = moves || isUnderWay(st) || st.Status == tree.Prepared || st.Status == tree.Delayed || st.Status == tree.Error || st.Status == tree.Waiting && !waits
				moves = moves || recovered[api.InstanceName(st.Group, st.Index)]
				must = must || p.Name == api.PlanDeploy && p.Interrupted && (st.Status == tree.Pending || waits) && !recovered[api.InstanceName(st.Group, st.Index)]
			}
		}
		must = must || p.Name == api.PlanDeploy && p.Status == tree.Waiting && !moves
	}
	if job.Held && !may || must && !job.Held {
		t.Fatalf("the job is held %v (%s)\n%s", job.Held, job.HeldReason, w.tree())
	}
}
