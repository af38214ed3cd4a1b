// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/gcpace"
	"github.com/reeve-run/reeve/internal/server/replica"
	"github.com/reeve-run/reeve/internal/state"
)

// The fleets of these benchmarks say nothing after they registered: what is
// measured is the pipeline, from a registration to a placement that is on the
// disk and in the state.

// fleetNode is node i of a fleet of machines in four sizes and three zones.
func fleetNode(i int) *api.Node {
	size := int64(1 << (i % 4))
	n := &api.Node{
		ID: api.NewID(), Name: fmt.Sprintf("node-%d", i), Datacenter: fmt.Sprintf("dc%d", i%3+1), NodePool: "default",
		Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible,
		Attributes: map[string]string{"kernel.name": "linux", "driver.mock_driver": "1", "unique.hostname": fmt.Sprint("node-", i)},
		Drivers:    map[string]*api.DriverStatus{"mock_driver": {Detected: true, Healthy: true}},
		Resources: &api.NodeResources{
			CPU: api.NodeCPU{CPUShares: 32_000 * size}, Memory: api.NodeMemory{MemoryMB: 64 << 10 * size}, Disk: api.NodeDisk{DiskMB: 1 << 20 * size},
			Networks: []*api.Network{{Mode: "host", Device: "lo", IP: "127.0.0.1"}},
		},
	}
	n.ComputedClass = api.ComputeClass(n)
	return n
}

// silent is a server of a benchmark, which collects garbage as an agent does:
// its nodes need not report.
func silent(b *testing.B, dir string) server.Config {
	b.Cleanup(gcpace.Bound())
	return server.Config{DataDir: dir, HeartbeatTTL: 1000 * time.Hour}
}

type proposer interface {
	Propose(context.Context, ...state.Command) (uint64, error)
}

// populate registers the nodes of a fleet.
func populate(b *testing.B, p proposer, nodes int) {
	b.Helper()
	for i := 0; i < nodes; {
		var cmds []state.Command
		for ; i < nodes && len(cmds) < 1000; i++ {
			cmds = append(cmds, &state.RegisterNode{Node: fleetNode(i)})
		}
		if _, err := p.Propose(b.Context(), cmds...); err != nil {
			b.Fatal(err)
		}
	}
}

// A workload counts the changes of the state since its beginning.
type workload struct {
	*state.Subscription
	evaluations, placed int
}

func (w *workload) until(b *testing.B, evaluations, placed int) {
	b.Helper()
	for w.evaluations < evaluations || w.placed < placed {
		batch, err := w.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for i := range batch.Changes {
			switch c := &batch.Changes[i]; c.Table {
			case state.TableEvaluations:
				if e, _ := c.New.(*api.Evaluation); e != nil && e.Status == api.EvalStatusComplete {
					w.evaluations++
				}
			case state.TableAllocations:
				if c.Old == nil {
					w.placed++
				}
			}
		}
	}
}

// costs is what the process has used so far.
type costs struct {
	cpu            time.Duration
	objects, bytes uint64
	entries        uint64
}

func costsOf(r *replica.Replica) costs {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return costs{
		cpu:     time.Duration(u.Utime.Nano() + u.Stime.Nano()),
		objects: m.Mallocs, bytes: m.TotalAlloc, entries: r.Stats().Entries,
	}
}

// reportSince reports what n things cost each.
func (c costs) reportSince(b *testing.B, r *replica.Replica, what string, n int) {
	b.Helper()
	d, each := costsOf(r), 1/float64(n)
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), what+"s/s")
	b.ReportMetric(float64((d.cpu-c.cpu).Microseconds())*each, "cpu-us/"+what)
	b.ReportMetric(float64(d.objects-c.objects)*each, "objects/"+what)
	b.ReportMetric(float64(d.bytes-c.bytes)*each, "B/"+what)
	b.ReportMetric(float64(d.entries-c.entries)*each, "entries/"+what)
	b.ReportMetric(0, "ns/op")
}

var fleetSizes = []int{100, 10_000, 100_000}

// BenchmarkPipelineRegistered has 64 callers register single-instance batch
// jobs: all that the server does for a job, durably.
func BenchmarkPipelineRegistered(b *testing.B) {
	for _, nodes := range fleetSizes {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			c := start(b, silent(b, b.TempDir()))
			defer c.close()
			populate(b, c.Replica(), nodes)
			sub := c.Store().Subscribe()
			defer sub.Close()
			runtime.GC()
			before := costsOf(c.Replica())
			b.ResetTimer()
			var next atomic.Int64
			var callers sync.WaitGroup
			for range 64 {
				callers.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if _, err := c.RegisterJob(b.Context(), &api.RegisterJobRequest{Job: batchJob(fmt.Sprintf("job-%d", i), 1)}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			(&workload{Subscription: sub}).until(b, b.N, b.N)
			callers.Wait()
			b.StopTimer()
			before.reportSince(b, c.Replica(), "eval", b.N)
		})
	}
}

// BenchmarkPipelinePending has the evaluations of single-instance batch jobs
// pending when the server begins to lead: what is left is the scheduling, with
// a durable log.
func BenchmarkPipelinePending(b *testing.B) {
	for _, nodes := range fleetSizes {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			dir := b.TempDir()
			await(b, dir, nodes, b.N, 1)
			c, err := server.New(silent(b, dir))
			if err != nil {
				b.Fatal(err)
			}
			sub := c.Store().Subscribe()
			defer sub.Close()
			runtime.GC()
			before := costsOf(c.Replica())
			if err := c.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			(&workload{Subscription: sub}).until(b, b.N, b.N)
			b.StopTimer()
			before.reportSince(b, c.Replica(), "eval", b.N)
			if err := c.Shutdown(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// await writes a data directory in which batch jobs wait for their evaluation.
func await(b *testing.B, dir string, nodes, jobs, count int) {
	b.Helper()
	store := state.New()
	r, err := replica.Open(replica.Config{Dir: dir, Store: store})
	if err != nil {
		b.Fatal(err)
	}
	for reign := uint64(0); reign == 0; {
		reign = <-r.LeaderCh()
	}
	populate(b, r, nodes)
	for i := 0; i < jobs; {
		var cmds []state.Command
		for ; i < jobs && len(cmds) < 1000; i++ {
			job := batchJob(fmt.Sprintf("job-%d", i), count)
			job.Canonicalize()
			cmds = append(cmds, &state.RegisterJob{Job: job, Evaluation: &api.Evaluation{
				ID: api.NewID(), Namespace: job.Namespace, JobID: job.ID, Type: job.Type, Priority: job.Priority,
				TriggeredBy: api.TriggerJobRegister, Status: api.EvalStatusPending,
			}})
		}
		if _, err := r.Propose(b.Context(), cmds...); err != nil {
			b.Fatal(err)
		}
	}
	if err := r.Snapshot(); err != nil {
		b.Fatal(err)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}
