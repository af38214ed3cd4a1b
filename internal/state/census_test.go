// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// TestCensusCountsWhatChanged compares a census of one snapshot after another with a count of
// everything, and bounds the pages that it looks at.
func TestCensusCountsWhatChanged(t *testing.T) {
	s, f := loaded(t, 40_000, 1000) // 400 jobs
	random := rand.New(rand.NewPCG(5, 5))
	jobs, nodes := slices.Collect(s.Snapshot().Jobs()), slices.Collect(s.Snapshot().Nodes())
	allocations := slices.Collect(s.Snapshot().Allocations())
	var c Census
	compare := func(what string) {
		t.Helper()
		v := s.Snapshot()
		if d := cmp.Diff(countAll(v), c.Take(v)); d != "" {
			t.Fatalf("%s (-counted +census):\n%s", what, d)
		}
	}
	compare("at first")
	for i := range 200 {
		before := c.jobs.counted + c.nodes.counted + c.deployments.counted
		job := jobs[random.IntN(len(jobs))]
		var command Command
		switch random.IntN(6) {
		case 0:
			command = &UpdateAllocations{Time: 2, Allocations: []*api.Allocation{{
				ID: allocations[random.IntN(len(allocations))].ID, ClientStatus: []string{api.AllocClientRunning, api.AllocClientFailed, api.AllocClientComplete}[random.IntN(3)],
			}}}
		case 1:
			command = &RegisterJob{Job: testJob(fmt.Sprintf("new-%d", i))}
		case 2:
			command = &DeregisterJob{Namespace: job.Namespace, ID: job.ID, Purge: random.IntN(2) == 0, Time: 3}
		case 3:
			command = &UpdateNodeStatus{NodeID: nodes[random.IntN(len(nodes))].ID, Status: api.NodeStatusDown, Time: 4}
		case 4:
			p := f.placement(job, 1, 0)
			p.Deployment = &api.Deployment{ID: f.id(), Namespace: job.Namespace, JobID: job.ID, Status: api.DeploymentRunning}
			command = &CommitPlacement{p}
		case 5:
			command = &PutEvaluations{Evaluations: []*api.Evaluation{{ID: f.id(), Namespace: job.Namespace, JobID: job.ID, Status: api.EvalStatusBlocked, QueuedAllocations: map[string]int{"web": 7}}}}
		}
		s.Apply(s.Index()+1, []Command{command})
		compare(fmt.Sprintf("after %d, %s", i, command.Name()))
		if looked := c.jobs.counted + c.nodes.counted + c.deployments.counted - before; looked > 3 {
			t.Fatalf("%s changed at most 3 pages, and the census counted %d", command.Name(), looked)
		}
	}
}

// TestCensusOfAnotherStateStartsAnew restores a snapshot, whose pages are all new.
func TestCensusOfAnotherStateStartsAnew(t *testing.T) {
	var c Census
	large, _ := loaded(t, 2000, 100)
	small, _ := loaded(t, 1000, 10)
	for _, s := range []*Store{large, small, New(), large} {
		if d := cmp.Diff(countAll(s.Snapshot()), c.Take(s.Snapshot())); d != "" {
			t.Errorf("(-counted +census):\n%s", d)
		}
	}
}

func countAll(v *Snapshot) Total {
	total := Total{Jobs: map[string]int{}, Deployments: map[string]int{}, Nodes: map[string]int{}}
	for j := range v.Jobs() {
		total.Jobs[j.Status]++
	}
	for g := range v.GroupCounts() {
		total.Groups.Add(&g.GroupSummary)
		if g.Live || g.Queued > 0 {
			total.Active++
		}
	}
	for d := range v.Deployments() {
		total.Deployments[d.Status]++
	}
	for n := range v.Nodes() {
		total.Nodes[n.Status]++
	}
	return total
}
