// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/state"
)

// Commands about preemption:
//
//	preemption TYPE...          only jobs of these types preempt from now on
//	on NODE...                  print what holds room there, of any job, and what waits for what
//	ends JOB GROUP[INDEX]       a node reports that what was told to stop has ended; nobody is evaluated
func init() {
	verbs["preemption"] = func(w *world, args, _ []string) string { w.preemption(args); return "" }
	verbs["on"] = func(w *world, args, _ []string) string { return w.on(args) }
	verbs["ends"] = func(w *world, args, _ []string) string { w.ends(args[0], args[1]); return "" }
}

func (w *world) preemption(types []string) {
	c := *w.snapshot().SchedulerConfig()
	c.Preemption = api.PreemptionConfig{
		SystemSchedulerEnabled: slices.Contains(types, api.JobTypeSystem), SysBatchSchedulerEnabled: slices.Contains(types, api.JobTypeSysBatch),
		BatchSchedulerEnabled: slices.Contains(types, api.JobTypeBatch), ServiceSchedulerEnabled: slices.Contains(types, api.JobTypeService),
	}
	w.apply(&state.SetSchedulerConfig{Config: &c})
}

func (w *world) on(nodes []string) string {
	var out strings.Builder
	for _, node := range nodes {
		all := slices.Collect(w.snapshot().AllocationsByNode(node))
		slices.SortFunc(all, func(a, b *api.Allocation) int { return strings.Compare(a.ID, b.ID) })
		for _, a := range all {
			if !a.HoldsResources() {
				continue
			}
			fmt.Fprintf(&out, "%s: %s %s %s", node, a.Name, a.DesiredStatus, a.ClientStatus)
			for i, id := range a.PreemptedAllocations {
				p := w.snapshot().Allocation(id)
				words := ", takes over from"
				if i > 0 {
					words = " and"
				}
				fmt.Fprintf(&out, "%s %s (%s)", words, p.Name, p.ClientStatus)
			}
			if by := w.snapshot().Allocation(a.PreemptedByAllocation); by != nil {
				fmt.Fprintf(&out, ", preempted by %s", by.Name)
			}
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func (w *world) ends(job, instance string) {
	w.t.Helper()
	for a := range w.snapshot().AllocationsByJob(api.DefaultNamespace, job) {
		if a.IsServerTerminal() && !a.IsClientTerminal() && strings.HasSuffix(a.Name, "."+instance) {
			w.report(a, func(u *api.Allocation) { u.ClientStatus = api.AllocClientComplete })
			return
		}
	}
	w.t.Fatalf("no allocation of %s %s was told to stop and runs", job, instance)
}

// preempts writes what a placement preempts.
func preempts(out *strings.Builder, preempted []placement.Preemption) {
	for _, p := range preempted {
		fmt.Fprintf(out, "preempt %s (priority %d) for %s\n", describeWith(p.Alloc), p.Alloc.Job.Priority, p.By.Name)
	}
}

// describeWith is describe with the job's name.
func describeWith(a *api.Allocation) string {
	return fmt.Sprintf("%s v%d on %s", a.Name, a.JobVersion(), a.NodeID)
}
