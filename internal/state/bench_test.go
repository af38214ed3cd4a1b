// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/allocset"
)

// fleet makes test data: the same for the same seed.
type fleet struct {
	random *rand.Rand
	nodes  []*api.Node
}

func newFleet(seed uint64, nodes int) *fleet {
	f := &fleet{random: rand.New(rand.NewPCG(seed, seed))}
	for i := range nodes {
		f.nodes = append(f.nodes, &api.Node{ID: f.id(), Name: fmt.Sprintf("node-%d", i), Status: api.NodeStatusReady})
	}
	return f
}

// id is a random id in UUID form.
func (f *fleet) id() string {
	var b [16]byte
	for i := range b {
		b[i] = byte(f.random.Uint32())
	}
	return allocset.UnpackID(b[:])
}

func testJob(id string) *api.Job {
	count := 100
	return &api.Job{
		Namespace: api.DefaultNamespace, ID: id, Name: id, Type: api.JobTypeService, Priority: 50,
		Groups: []*api.Group{{Name: "web", Count: &count, Tasks: []*api.Task{{Name: "server", Driver: "mock"}}}},
	}
}

// placement is n new allocations of a job on the nodes from first on.
func (f *fleet) placement(job *api.Job, n, first int) *Placement {
	p := &Placement{EvalID: f.id(), Job: job, Time: 1}
	metrics := &api.PlacementMetrics{NodesEvaluated: len(f.nodes), NodesAvailable: map[string]int{"dc1": len(f.nodes)}}
	tasks := map[string]*api.AllocatedTask{"server": {CPU: api.AllocatedCPU{CPUShares: 100}, Memory: api.AllocatedMemory{MemoryMB: 64}}}
	for i := range n {
		node := f.nodes[(first+i)%len(f.nodes)]
		p.Place = append(p.Place, &api.Allocation{
			ID: f.id(), EvalID: p.EvalID, Name: api.AllocName(job.ID, "web", i), Group: "web", NodeID: node.ID, NodeName: node.Name,
			Namespace: job.Namespace, JobID: job.ID, Job: job, DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
			Metrics: metrics, AllocatedResources: &api.AllocatedResources{
				Tasks:  tasks,
				Shared: api.AllocatedShared{DiskMB: 300, Ports: []api.PortMapping{{Label: "http", Value: 20000 + i%10000, To: 8080}}},
			},
		})
	}
	return p
}

func must(tb testing.TB, errs []error) {
	tb.Helper()
	for _, err := range errs {
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// loaded returns a store with so many allocations, 100 to a job, placed by the
// 1,000. They went through the log's encoding, as in a server.
func loaded(tb testing.TB, allocations, nodes int) (*Store, *fleet) {
	s, f := New(), newFleet(1, nodes)
	index := uint64(0)
	apply := func(commands ...Command) {
		index++
		decoded, err := DecodeCommands(EncodeCommands(commands))
		if err != nil {
			tb.Fatal(err)
		}
		must(tb, s.Apply(index, decoded))
	}
	for chunk := range slices.Chunk(f.nodes, 1000) {
		var commands []Command
		for _, n := range chunk {
			commands = append(commands, &RegisterNode{Node: n})
		}
		apply(commands...)
	}
	for n := 0; n < allocations; n += 1000 {
		var jobs, placements []Command
		for i := range 10 {
			job := testJob(fmt.Sprintf("job-%d-%d", n, i))
			jobs = append(jobs, &RegisterJob{Job: job})
			placements = append(placements, &CommitPlacement{f.placement(job, 100, n+100*i)})
		}
		apply(jobs...)
		apply(placements...)
	}
	return s, f
}

// BenchmarkStoreInsert places allocations, decoded already, in batches of
// 1,000 into a store that holds some.
func BenchmarkStoreInsert(b *testing.B) {
	for _, held := range []int{0, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("held=%d", held), func(b *testing.B) {
			s, f := loaded(b, held, max(1000, held/10))
			index := s.Index()
			job := testJob("inserted")
			must(b, s.Apply(index+1, []Command{&RegisterJob{Job: job}}))
			index++
			batches := make([][]Command, b.N)
			for i := range batches {
				batches[i] = []Command{&CommitPlacement{f.placement(job, 1000, f.random.IntN(len(f.nodes)))}}
			}
			runtime.GC()
			used := processorTime()
			b.ResetTimer()
			for i := range b.N {
				index++
				must(b, s.Apply(index, batches[i]))
			}
			b.ReportMetric(float64(b.N)*1000/(processorTime()-used).Seconds(), "allocs/cpu-s")
			b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "allocs/s")
		})
	}
}

// BenchmarkStoreUpdate applies status updates of 64 allocations each, with a
// snapshot after each.
func BenchmarkStoreUpdate(b *testing.B) {
	s, _ := loaded(b, 100_000, 10_000)
	all := slices.Collect(s.Snapshot().Allocations())
	random := rand.New(rand.NewPCG(2, 2))
	index := s.Index()
	b.ResetTimer()
	for range b.N {
		index++
		c := &UpdateAllocations{Time: 2}
		for range 64 {
			c.Allocations = append(c.Allocations, &api.Allocation{ID: all[random.IntN(len(all))].ID, ClientStatus: api.AllocClientRunning})
		}
		must(b, s.Apply(index, []Command{c}))
	}
	b.ReportMetric(float64(b.N)*64/b.Elapsed().Seconds(), "updates/s")
}

// BenchmarkStoreMillion loads 1,000,000 allocations once and measures what the
// store takes beyond the objects, a full garbage collection, snapshots and
// reads.
func BenchmarkStoreMillion(b *testing.B) {
	const n = 1_000_000
	s, _ := loaded(b, n, 100_000)
	before := s.Snapshot()
	held := heap()
	objects := slices.Collect(before.Allocations())
	nodes := slices.Collect(before.Nodes())
	jobs := slices.Collect(before.Jobs())
	index := s.Index()
	wall, cpu := markTime()

	b.Run("snapshot", func(b *testing.B) {
		for range b.N {
			index++
			s.Apply(index, nil)
			s.Snapshot()
		}
	})
	b.Run("get", func(b *testing.B) {
		for i := range b.N {
			s.Snapshot().Allocation(objects[i*7919%n].ID)
		}
	})
	b.Run("byNode", func(b *testing.B) {
		for i := range b.N {
			for range s.Snapshot().AllocationsByNode(nodes[i*7919%len(nodes)].ID) {
			}
		}
	})
	b.Run("byJob", func(b *testing.B) {
		for i := range b.N {
			for range s.Snapshot().AllocationsByJob(jobs[i*31%len(jobs)].Namespace, jobs[i*31%len(jobs)].ID) {
			}
		}
	})
	b.Run("memory", func(b *testing.B) {
		// What is left when the store is gone but its objects are held is the
		// objects' own. The feed's history is bounded, and part of the store.
		before, s = nil, nil
		rest := heap()
		_, own := markTime()
		for range b.N {
			runtime.KeepAlive(objects)
		}
		runtime.KeepAlive(nodes)
		runtime.KeepAlive(jobs)
		b.ReportMetric((held-rest)/n, "B/alloc-beyond")
		b.ReportMetric(rest/n, "B/alloc-object")
		b.ReportMetric(wall.Seconds()*1000, "gc-mark-ms")
		b.ReportMetric(cpu.Seconds()*1000, "gc-mark-cpu-ms")
		b.ReportMetric(own.Seconds()*1000, "gc-mark-objects-cpu-ms")
	})
}

// heap is how many bytes live objects take.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// markTime is the shortest of a few full garbage collections, and the
// processor time it took.
func markTime() (wall, cpu time.Duration) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	wall, cpu = time.Hour, time.Hour
	for range 5 {
		start, used := time.Now(), processorTime()
		runtime.GC()
		wall, cpu = min(wall, time.Since(start)), min(cpu, processorTime()-used)
	}
	return wall, cpu
}

// processorTime is what this process has used. On a busy machine it says more
// than the clock.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStoreSnapshotFile writes and restores 100,000 running allocations.
func BenchmarkStoreSnapshotFile(b *testing.B) {
	s, _ := loaded(b, 100_000, 1000)
	index := s.Index()
	for chunk := range slices.Chunk(slices.Collect(s.Snapshot().Allocations()), 1000) {
		c := &UpdateAllocations{Time: 3}
		for _, a := range chunk {
			c.Allocations = append(c.Allocations, running(a.ID))
		}
		index++
		must(b, s.Apply(index, []Command{c}))
	}
	var file bytes.Buffer
	size, err := s.Snapshot().WriteTo(&file)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		used := processorTime()
		for range b.N {
			file.Reset()
			if _, err := s.Snapshot().WriteTo(&file); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((processorTime()-used).Seconds()*1000/float64(b.N), "cpu-ms")
		b.ReportMetric(float64(size)/1e6, "MB")
	})
	b.Run("restore", func(b *testing.B) {
		used := processorTime()
		for range b.N {
			if _, err := Restore(bytes.NewReader(file.Bytes())); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((processorTime()-used).Seconds()*1000/float64(b.N), "cpu-ms")
	})
}

// running is what a node says of an allocation that it started.
func running(id string) *api.Allocation {
	at := time.Unix(1700000000, 5).UTC()
	return &api.Allocation{ID: id, ClientStatus: api.AllocClientRunning, TaskStates: map[string]*api.TaskState{"server": {
		State: api.TaskStateRunning, StartedAt: at, Events: []*api.TaskEvent{
			{Type: api.EventReceived, Time: at.UnixNano(), DisplayMessage: "Task received by client"},
			{Type: api.EventTaskSetup, Time: at.UnixNano(), DisplayMessage: "Building Task Directory", Message: "Building Task Directory"},
			{Type: api.EventStarted, Time: at.UnixNano(), DisplayMessage: "Task started by client"},
		},
	}}}
}

// BenchmarkStoreEncode encodes and decodes a placement of 1,000.
func BenchmarkStoreEncode(b *testing.B) {
	f := newFleet(1, 1000)
	commands := []Command{&CommitPlacement{f.placement(testJob("encoded"), 1000, 0)}}
	entry := EncodeCommands(commands)
	b.Run("encode", func(b *testing.B) {
		for range b.N {
			EncodeCommands(commands)
		}
		b.ReportMetric(float64(len(entry))/1000, "B/alloc")
		b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "allocs/s")
	})
	b.Run("decode", func(b *testing.B) {
		for range b.N {
			if _, err := DecodeCommands(entry); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "allocs/s")
	})
}
