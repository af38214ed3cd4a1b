// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// BenchmarkCollect sweeps over a million allocations, of which a tenth can go:
// how long a pass takes, and applying what it collects.
func BenchmarkCollect(b *testing.B) {
	const jobs, each = 1000, 1000
	store := state.New()
	apply := func(cmds ...state.Command) {
		for i, err := range store.Apply(store.Index()+1, cmds) {
			if err != nil {
				b.Fatalf("%s: %v", cmds[i].Name(), err)
			}
		}
	}
	for n := range 1000 {
		apply(&state.RegisterNode{Node: &api.Node{ID: fmt.Sprintf("node-%d", n), Status: api.NodeStatusReady}})
	}
	for j := range jobs {
		apply(&state.RegisterJob{Job: &api.Job{
			ID: fmt.Sprintf("job-%d", j), Namespace: "default", Type: api.JobTypeService, SubmitTime: t0.UnixNano(), Groups: []*api.Group{{Name: "g"}},
		}})
		job := store.Snapshot().Job("default", fmt.Sprintf("job-%d", j))
		for e := range 10 {
			p := &state.Placement{EvalID: api.NewID(), Job: job, Time: t0.UnixNano()}
			p.Evaluations = []*api.Evaluation{{
				ID: p.EvalID, Namespace: "default", JobID: job.ID, Type: job.Type, Status: api.EvalStatusComplete, ModifyTime: t0.UnixNano(),
			}}
			for i := range each / 10 {
				p.Place = append(p.Place, &api.Allocation{
					ID: api.NewID(), Namespace: "default", JobID: job.ID, Job: job, Group: "g", EvalID: p.EvalID,
					NodeID: fmt.Sprintf("node-%d", (j+i)%1000), Name: api.AllocName(job.ID, "g", i),
				})
			}
			apply(&state.CommitPlacement{Placement: p})
			if e > 0 {
				continue
			}
			var reports []*api.Allocation
			stop := &state.Placement{Job: job, Time: t0.UnixNano()}
			for _, a := range p.Place {
				reports = append(reports, &api.Allocation{ID: a.ID, ClientStatus: api.AllocClientComplete})
				stop.Stop = append(stop.Stop, state.Stop{ID: a.ID})
			}
			apply(&state.CommitPlacement{Placement: stop}, &state.UpdateAllocations{Time: t0.UnixNano(), Allocations: reports})
		}
	}
	for b.Loop() {
		var at control.Position
		var looks, applies []time.Duration
		collected := 0
		for swept := false; !swept; {
			var cmd *state.Collect
			begin := time.Now()
			cmd, at, swept = control.Collect(store.Snapshot(), after(2*time.Hour), control.DefaultThresholds, at)
			looks = append(looks, time.Since(begin))
			if cmd == nil {
				continue
			}
			collected += len(cmd.Allocations) + len(cmd.Evaluations)
			begin = time.Now()
			apply(cmd)
			applies = append(applies, time.Since(begin))
		}
		report := func(what string, d []time.Duration) {
			if len(d) == 0 {
				return
			}
			slices.Sort(d)
			b.ReportMetric(d[len(d)/2].Seconds()*1000, what+"-p50-ms")
			b.ReportMetric(d[len(d)*99/100].Seconds()*1000, what+"-p99-ms")
		}
		report("pass", looks)
		report("apply", applies)
		b.ReportMetric(float64(len(looks)), "passes")
		b.ReportMetric(float64(collected), "collected")
	}
}
