// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// BenchmarkDerive derives all plans of a job of n instances, with their
// statuses: all of them well, of an older version, and half of them failed. Whole makes
// every phase and step of them too, as they go over the wire.
func BenchmarkDerive(b *testing.B) {
	const n = 10000
	w := newWorld(b)
	for i := range n / 100 {
		w.addNode(fmt.Sprintf("n%d", i), 20000, 20000, "dc1", nil)
	}
	register := func(env string) {
		w.register([]string{"web"}, []string{
			fmt.Sprintf("group api count=%d env=%s max_parallel=%d", n, env, n/2), "plan deploy", fmt.Sprintf("phase api max_parallel=%d", n),
		})
	}
	register("1")
	w.evaluate(w.evaluation())
	w.say("healthy", w.allocations())
	measure := func(what string, show func(*view.View)) {
		b.Run(what, func(b *testing.B) {
			snap, job := w.snapshot(), w.newest()
			b.ReportAllocs()
			for b.Loop() {
				v := view.Derive(snap, job.Key(), job, w.now)
				show(v)
				v.Release()
			}
		})
	}
	list := func(v *view.View) {
		if len(v.List()) == 0 {
			b.Fatal("no plan")
		}
	}
	measure("well", list)
	measure("well/whole", func(v *view.View) { v.All() })
	register("2")
	measure("older", list)
	register("1")
	w.evaluate(w.evaluation())
	w.say("healthy", w.allocations())
	w.evaluate(w.evaluation())
	var half []*api.Allocation
	for i, a := range w.allocations() {
		if i%2 == 0 {
			half = append(half, a)
		}
	}
	w.say("fail", half)
	measure("failed", list)
}

// BenchmarkStatuses lists the statuses of all plans of 10,000 jobs of 10
// instances each.
func BenchmarkStatuses(b *testing.B) {
	const jobs = 10000
	w := newWorld(b)
	for i := range jobs / 100 {
		w.addNode(fmt.Sprintf("n%d", i), 200000, 200000, "dc1", nil)
	}
	for i := range jobs {
		w.register([]string{fmt.Sprintf("job%d", i)}, []string{"group api count=10 max_parallel=10"})
		w.evaluate(w.evaluation())
	}
	var reports []state.Command
	for a := range w.snapshot().Allocations() {
		reports = append(reports, &state.UpdateAllocations{NodeID: a.NodeID, Time: w.now.UnixNano(), Allocations: []*api.Allocation{{
			ID: a.ID, ClientStatus: api.AllocClientRunning, TaskStates: w.running(a, false),
			DeploymentStatus: &api.AllocDeploymentStatus{Healthy: new(true), Timestamp: w.now},
		}}})
	}
	w.apply(reports...)
	b.ReportAllocs()
	for b.Loop() {
		snap, plans := w.snapshot(), 0
		for job := range snap.Jobs() {
			v := view.Derive(snap, job.Key(), job, w.now)
			plans += len(v.List())
			v.Release()
		}
		if plans != jobs {
			b.Fatalf("%d plans of %d jobs", plans, jobs)
		}
	}
}
