// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
)

// taken is an allocation of one group of job that holds amounts and perhaps a
// port on a node.
func taken(id string, job *api.Job, node *api.Node, cpu, memory int64, port int) *api.Allocation {
	r := &api.AllocatedResources{Tasks: map[string]*api.AllocatedTask{"web": {
		CPU: api.AllocatedCPU{CPUShares: cpu}, Memory: api.AllocatedMemory{MemoryMB: memory},
	}}}
	if port != 0 {
		r.Shared.Ports = []api.PortMapping{{Label: "p", Value: port, HostIP: "10.0.0.1"}}
	}
	return &api.Allocation{
		ID: id, Namespace: "default", JobID: job.ID, Job: job, Group: "web", Name: api.AllocName(job.ID, "web", 0), NodeID: node.ID,
		AllocatedResources: r, DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning, CreateIndex: 1,
	}
}

func jobOf(id string, priority, mayLose int) *api.Job {
	job := testJob(1)
	job.ID, job.Priority = id, priority
	if mayLose >= 0 {
		job.Groups[0].Migrate = &api.Migrate{MaxParallel: &mayLose}
	}
	return job
}

// held answers Policy.Held from a fixture.
func (f *fixture) held(node string) iter.Seq[*api.Allocation] {
	return func(yield func(*api.Allocation) bool) {
		for _, a := range f.allocs {
			if a.NodeID == node && !yield(a) {
				return
			}
		}
	}
}

// crowd is a small fleet full of jobs of all priorities, and a job that wants to
// preempt some.
type crowd struct {
	fixture
	job *api.Job
}

func drawCrowd(t *rapid.T) *crowd {
	c := &crowd{}
	for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		n := testNode(i)
		n.Resources.CPU.CPUShares, n.Resources.Memory.MemoryMB = 1000, 1000
		c.nodes = append(c.nodes, n)
	}
	var jobs []*api.Job
	for i := range rapid.IntRange(1, 4).Draw(t, "jobs") {
		jobs = append(jobs, jobOf(fmt.Sprintf("job-%d", i), 10*rapid.IntRange(1, 6).Draw(t, "priority"), rapid.IntRange(-1, 2).Draw(t, "may lose")))
	}
	for _, n := range c.nodes {
		free := api.Usage{CPU: 1000, MemoryMB: 1000}
		ports := map[int]bool{}
		for range rapid.IntRange(0, 8).Draw(t, "allocations") {
			u := api.Usage{CPU: 50 * rapid.Int64Range(1, 8).Draw(t, "cpu"), MemoryMB: 50 * rapid.Int64Range(1, 8).Draw(t, "memory")}
			port := rapid.SampledFrom([]int{0, 0, 80, 81}).Draw(t, "port")
			if _, ok := u.Fits(free); !ok || port != 0 && ports[port] {
				continue
			}
			free, ports[port] = free.Sub(u), true
			a := taken(fmt.Sprintf("alloc-%02d", len(c.allocs)), rapid.SampledFrom(jobs).Draw(t, "job"), n, u.CPU, u.MemoryMB, port)
			if rapid.IntRange(0, 9).Draw(t, "state") == 0 {
				a.DesiredStatus = api.AllocDesiredStop
			}
			c.allocs = append(c.allocs, a)
		}
	}
	c.job = jobOf("urgent", 60, -1)
	task := c.job.Groups[0].Tasks[0]
	task.Resources = &api.Resources{CPU: new(50 * rapid.IntRange(1, 20).Draw(t, "need cpu")), MemoryMB: new(50 * rapid.IntRange(1, 20).Draw(t, "need memory"))}
	if rapid.Bool().Draw(t, "static ports") {
		c.job.Groups[0].Networks = []*api.Network{{ReservedPorts: []api.Port{{Label: "a", Value: 80}, {Label: "b", Value: 81}}}}
	}
	return c
}

// best is the least harm that makes room on any node, found by trying every set
// on every node.
func (c *crowd) best() (least preemptionCost, found bool) {
	need, ports := c.job.Groups[0].Usage(), newPortRequest(c.job.Groups[0]).static
	for _, n := range c.nodes {
		var victims, rest []*api.Allocation
		for a := range c.held(n.ID) {
			switch {
			case a.IsServerTerminal():
			case a.Job.Priority+10 <= c.job.Priority:
				victims = append(victims, a)
			default:
				rest = append(rest, a)
			}
		}
		for set := range uint(1) << len(victims) {
			used, free := need, true
			lost, freed := map[string]int{}, api.Usage{}
			h := preemptionCost{count: bits.OnesCount(set)}
			for i, v := range victims {
				if set&(1<<i) == 0 {
					used = used.Add(v.Usage())
					free = free && !slices.ContainsFunc(Ports(v), func(p int) bool { return slices.Contains(ports, p) })
					continue
				}
				h.priority += v.Job.Priority
				freed = freed.Add(v.Usage())
				lost[v.JobID]++
				if m := v.Job.Groups[0].Migrate; m != nil && lost[v.JobID] > *m.MaxParallel {
					h.over++
				}
			}
			for _, a := range rest {
				used = used.Add(a.Usage())
				free = free && !slices.ContainsFunc(Ports(a), func(p int) bool { return slices.Contains(ports, p) })
			}
			if _, ok := used.Fits(n.Capacity()); !ok || !free {
				continue
			}
			lacking := used.Add(freed).Sub(n.Capacity())
			share := func(freed, lacking, capacity int64) float64 {
				return float64(freed-max(lacking, 0)) / float64(capacity)
			}
			h.excess = share(freed.CPU, lacking.CPU, 1000) + share(freed.MemoryMB, lacking.MemoryMB, 1000)
			if !found || h.compareCoarse(least) < 0 || h.compareCoarse(least) == 0 && h.excess < least.excess {
				least, found = h, true
			}
		}
	}
	return least, found
}

// TestPreemptionDoesTheLeastHarm compares with an exhaustive search.
func TestPreemptionDoesTheLeastHarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCrowd(t)
		v := NewFleet(&c.fixture).View()
		out := Place(v, &Order{
			EvalID: "e", Namespace: "default", JobID: "urgent", Requests: requests(c.job, 1),
			Policy: Policy{Held: c.held}, NewID: func() string { return "new" },
		})
		least, possible := c.best()
		if !slices.ContainsFunc(c.allocs, func(a *api.Allocation) bool { return a.Job.Priority+10 <= c.job.Priority }) {
			possible = possible && len(out.Place) == 1 // without anybody to preempt, nobody's end is waited for
		}
		if possible != (len(out.Place) == 1) {
			t.Fatalf("placed %d with %v, an exhaustive search finds a place: %v", len(out.Place), out.Preempt, possible)
		}
		if !possible {
			if len(out.Preempt) > 0 {
				t.Fatalf("%d were preempted for nothing", len(out.Preempt))
			}
			return
		}
		got := preemptionCost{}
		lost := map[string]int{}
		for _, p := range out.Preempt {
			if p.Alloc.Job.Priority+10 > c.job.Priority || p.Alloc.NodeID != out.Place[0].NodeID || p.By != out.Place[0] {
				t.Fatalf("%s of priority %d on %s is preempted for %s", p.Alloc.ID, p.Alloc.Job.Priority, p.Alloc.NodeID, out.Place[0].NodeID)
			}
			got.count++
			got.priority += p.Alloc.Job.Priority
			lost[p.Alloc.JobID]++
			if m := p.Alloc.Job.Groups[0].Migrate; m != nil && lost[p.Alloc.JobID] > *m.MaxParallel {
				got.over++
			}
		}
		if got.compareCoarse(least) != 0 {
			t.Fatalf("preempting does %+v, the least possible is %+v", got, least)
		}
		if refused := Check(v, out.Place, c.allocation); len(refused) > 0 {
			t.Fatalf("the applier would refuse %+v", refused)
		}
		// It waits for nobody without whom it had room, too.
		for i := range out.Place[0].PreemptedAllocations {
			a := out.Place[0].Copy()
			a.PreemptedAllocations = slices.Delete(slices.Clone(a.PreemptedAllocations), i, i+1)
			if refused := Check(v, []*api.Allocation{a}, c.allocation); len(refused) == 0 {
				t.Fatalf("%s waits for %s for nothing", a.ID, out.Place[0].PreemptedAllocations[i])
			}
		}
	})
}

func (f *fixture) allocation(id string) *api.Allocation {
	for _, a := range f.allocs {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// TestWhatMayRunTogetherFits preempts for several instances of several jobs, one
// order after another, and looks at every set of allocations that may run at the
// same time.
func TestWhatMayRunTogetherFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCrowd(t)
		made := 0
		for order := range rapid.IntRange(1, 3).Draw(t, "orders") {
			job := *c.job
			job.ID, job.Priority = fmt.Sprintf("urgent-%d", order), 60+10*order
			fleet := NewFleet(&c.fixture)
			out := Place(fleet.View(), &Order{
				EvalID: "e", Namespace: "default", JobID: job.ID, Requests: requests(&job, rapid.IntRange(1, 4).Draw(t, "count")),
				Policy: Policy{Held: c.held}, NewID: func() string { made++; return fmt.Sprintf("new-%02d", made) },
			})
			if refused := Check(fleet.View(), out.Place, c.allocation); len(refused) > 0 {
				t.Fatalf("the applier would refuse %+v", refused)
			}
			for _, p := range out.Preempt {
				p.Alloc.DesiredStatus = api.AllocDesiredEvict
			}
			for _, a := range out.Place {
				a.CreateIndex = 1
			}
			c.allocs = append(c.allocs, out.Place...)
			c.checkTogether(t)
		}
	})
}

// checkTogether checks each node's worst case: everything runs that does not
// wait for something that runs.
func (c *crowd) checkTogether(t *rapid.T) {
	for _, n := range c.nodes {
		all := slices.Collect(c.held(n.ID))
		if len(all) > 16 {
			all = all[len(all)-16:]
		}
		for set := range uint(1) << len(all) {
			runs := map[string]bool{}
			for i, a := range all {
				runs[a.ID] = set&(1<<i) != 0
			}
			possible, used, ports := true, api.Usage{}, map[int]bool{}
			for _, a := range all {
				if !runs[a.ID] {
					continue
				}
				possible = possible && !slices.ContainsFunc(a.PreemptedAllocations, func(id string) bool { return runs[id] })
				used = used.Add(a.Usage())
			}
			if !possible {
				continue
			}
			if dimension, ok := used.Fits(n.Capacity()); !ok {
				t.Fatalf("%s may run %+v at once: too much %s", n.ID, used, dimension)
			}
			for _, a := range all {
				for _, p := range Ports(a) {
					if runs[a.ID] && ports[p] {
						t.Fatalf("%s may have port %d given twice at once", n.ID, p)
					}
					ports[p] = ports[p] || runs[a.ID]
				}
			}
		}
	}
}
