// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/state"
)

// BenchmarkReconcile works out what to do about a service of n instances: all
// of them new, all of them well, and all of them of an older version.
func BenchmarkReconcile(b *testing.B) {
	for _, n := range []int{1, 1000, 10000} {
		w := newWorld(b)
		for i := range max(n/100, 1) {
			w.addNode(fmt.Sprintf("n%d", i), 20000, 20000, "dc1", nil)
		}
		register := func(env string) {
			w.register([]string{"web"}, []string{fmt.Sprintf("group api count=%d env=%s", n, env)})
		}
		measure := func(what string) {
			b.Run(fmt.Sprintf("%s/count=%d", what, n), func(b *testing.B) {
				snap, job, eval := w.snapshot(), w.newest(), w.evaluation()
				b.ReportAllocs()
				for b.Loop() {
					plan.Reconcile(snap, job, eval, w.now)
				}
			})
		}
		register("1")
		measure("new")
		w.evaluate(w.evaluation())
		for _, a := range w.allocations() {
			w.report(a, func(u *api.Allocation) {
				u.ClientStatus = api.AllocClientRunning
				u.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: new(true), Timestamp: w.now}
			})
		}
		measure("well")
		register("2")
		measure("older")
	}
}

// BenchmarkEvaluation works out the evaluation of a new service of 1,000
// instances, and of a system job, on empty fleets: plan, place, and the
// applier's check of what comes of it. Nothing is committed.
func BenchmarkEvaluation(b *testing.B) {
	for _, nodes := range []int{1000, 10000} {
		w := newWorld(b)
		w.addNodes(nodes)
		for _, shape := range []string{"plain", "affinity", "spread", "everything", "system"} {
			placed := min(nodes, 1000)
			if shape == "system" {
				placed = nodes
			}
			b.Run(fmt.Sprintf("%s/nodes=%d", shape, nodes), func(b *testing.B) {
				job := shapedJob(shape, placed)
				w.job = job.ID
				w.apply(&state.RegisterJob{Job: job})
				snap, eval := w.snapshot(), w.evaluation()
				job, view := w.newest(), w.fleet.View()
				evaluate := func() {
					r := plan.Reconcile(snap, job, eval, w.now)
					o := placement.Place(view, &placement.Order{
						EvalID: eval.ID, Namespace: eval.Namespace, JobID: eval.JobID,
						Requests: r.Start, Kept: r.Kept, Now: w.now.UnixNano(),
					})
					if len(o.Place) != placed {
						b.Fatalf("%d placed, want %d: %+v", len(o.Place), placed, o.Failed)
					}
					r.Placed()
					checking := time.Now()
					if refused := placement.Check(view, o.Place, snap.Allocation); len(refused) > 0 {
						b.Fatalf("refused: %+v", refused)
					}
					checked += time.Since(checking)
				}
				evaluate()
				b.ReportAllocs()
				checked = 0
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				b.ResetTimer()
				rounds := 0
				for b.Loop() {
					evaluate()
					rounds++
				}
				runtime.ReadMemStats(&after)
				all := float64(placed * rounds)
				b.ReportMetric(all/b.Elapsed().Seconds(), "placements/s")
				b.ReportMetric(all/checked.Seconds(), "checks/s")
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/all, "B/placement")
				b.ReportMetric(float64(after.Mallocs-before.Mallocs)/all, "objects/placement")
			})
		}
	}
}

// checked is how long the checks of BenchmarkEvaluation took.
var checked time.Duration

// addNodes registers ready nodes of 30 kinds, each with a device.
func (w *world) addNodes(n int) {
	var commands []state.Command
	for i := range n {
		node := &api.Node{
			ID: fmt.Sprintf("node-%06d", i), Name: fmt.Sprintf("n%d", i), Datacenter: fmt.Sprintf("dc%d", i%3+1),
			NodePool: "default", Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible,
			Attributes: map[string]string{"kernel.name": "linux", "kernel.version": "6.1.0"},
			Meta:       map[string]string{"rack": fmt.Sprintf("r%d", i%10)},
			Drivers:    map[string]*api.DriverStatus{"mock": {Detected: true, Healthy: true}},
			Resources: &api.NodeResources{
				CPU: api.NodeCPU{CPUShares: 4000}, Memory: api.NodeMemory{MemoryMB: 8192}, Disk: api.NodeDisk{DiskMB: 100000},
				Devices: []*api.NodeDeviceGroup{{Vendor: "acme", Type: "gpu", Name: "one", Instances: []*api.NodeDevice{{ID: "g0", Healthy: true}}}},
			},
		}
		node.ComputedClass = api.ComputeClass(node)
		if commands = append(commands, &state.RegisterNode{Node: node}); len(commands) == 500 || i == n-1 {
			w.apply(commands...)
			commands = nil
		}
	}
}

// shapedJob is a service of count instances that asks for something special of
// its nodes, or a system job.
func shapedJob(shape string, count int) *api.Job {
	job := &api.Job{
		ID: shape, Namespace: api.DefaultNamespace, Type: api.JobTypeService, Datacenters: []string{"*"},
		Groups: []*api.Group{{
			Name: "api", Count: &count,
			Tasks: []*api.Task{{Name: "main", Driver: "mock", Resources: &api.Resources{CPU: new(100), MemoryMB: new(128)}}},
		}},
	}
	g := job.Groups[0]
	switch shape {
	case "affinity":
		g.Affinities = []*api.Affinity{{LTarget: "${meta.rack}", Operand: "=", RTarget: "r3"}}
	case "spread":
		g.Spreads = []*api.Spread{{Attribute: "${node.datacenter}"}}
	case "everything":
		g.Constraints = []*api.Constraint{
			{LTarget: "${attr.kernel.name}", Operand: api.OperandRegexp, RTarget: "^lin"},
			{LTarget: "${attr.kernel.version}", Operand: api.OperandVersion, RTarget: ">= 5.0, < 7"},
			{Operand: api.OperandDistinctHosts, RTarget: "true"},
		}
		g.Networks = []*api.Network{{ReservedPorts: []api.Port{{Label: "http", Value: 8080}}}}
		g.Tasks[0].Resources.Devices = []*api.DeviceRequest{{Name: "gpu", Count: new(uint64(1))}}
	case "system":
		job.Type, g.Count = api.JobTypeSystem, new(1)
	}
	job.Canonicalize()
	return job
}

// BenchmarkReconcileEverywhere evaluates a system job again of which every node
// has a healthy instance: what each node that comes or goes causes.
func BenchmarkReconcileEverywhere(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			w := newWorld(b)
			for i := range n {
				w.addNode(fmt.Sprintf("n%d", i), 20000, 20000, "dc1", nil)
			}
			w.register([]string{"agent", "type=system"}, []string{"group log count=1"})
			w.evaluate(w.evaluation())
			w.say("healthy", w.allocations())
			w.evaluate(w.evaluation())
			snap, job, eval := w.snapshot(), w.newest(), w.evaluation()
			b.ReportAllocs()
			for b.Loop() {
				if r := plan.Reconcile(snap, job, eval, w.now); !r.IsEmpty() {
					b.Fatal("something is left to do")
				}
			}
		})
	}
}
