// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/tree"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// TestInvariantsUnderChurn lets jobs come, change, crash and go on nodes that
// come and go, and checks every state that results; then it lets all settle
// and checks that everything that should run does.
func TestInvariantsUnderChurn(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			simulate(t, func(c *cluster) {
				ch := &churn{cluster: c, rand: rand.New(rand.NewPCG(seed, 1))}
				ch.run(120)
			})
		})
	}
}

// TestInvariantsUnderPreemption is the same with jobs of many priorities, that
// preempt each other.
func TestInvariantsUnderPreemption(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			simulate(t, func(c *cluster) {
				config := &api.SetSchedulerConfigRequest{}
				config.Preemption = api.PreemptionConfig{ServiceSchedulerEnabled: true, BatchSchedulerEnabled: true}
				if _, err := c.SetSchedulerConfig(c.Context(), config, nil); err != nil {
					c.Fatal(err)
				}
				ch := &churn{cluster: c, rand: rand.New(rand.NewPCG(seed, 3)), preempt: true}
				ch.run(120)
				if ch.preempted == 0 {
					c.Error("nothing was preempted")
				}
			})
		})
	}
}

type churn struct {
	*cluster
	rand *rand.Rand
	mu   sync.Mutex // guards dice
	dice *rand.Rand
	calm bool // nothing crashes any more

	preempt   bool // jobs preempt each other
	preempted int
}

const churnNodes = 4

func (c *churn) run(steps int) {
	c.dice = rand.New(rand.NewPCG(c.rand.Uint64(), 2))
	for i := range churnNodes {
		c.addNode(fmt.Sprint("n", i), c.script)
	}
	ctx, stop := context.WithCancel(c.Context())
	var checking sync.WaitGroup
	checking.Go(func() { c.checkAll(ctx) })
	for range steps {
		c.step()
		c.pass(time.Duration(c.rand.IntN(5000)) * time.Millisecond)
	}
	c.mu.Lock()
	c.calm = true
	c.mu.Unlock()
	c.settle()
	stop()
	checking.Wait()
}

// script has an instance in five crash, and health take its time.
func (c *churn) script(_ *api.Allocation, job *api.Job) []event {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := time.Duration(c.dice.IntN(3000)) * time.Millisecond
	events := []event{{after: wait / 3, status: api.AllocClientRunning}}
	switch {
	case !c.calm && c.dice.IntN(5) == 0:
		return append(events, event{after: wait, status: api.AllocClientFailed})
	case job.RunsToCompletion():
		return append(events, event{after: wait, status: api.AllocClientComplete})
	}
	return append(events, event{after: wait, status: api.AllocClientRunning, healthy: healthy(true)})
}

// step does one thing that users or machines do. Verbs may refuse: a job may
// not exist any more.
func (c *churn) step() {
	id := fmt.Sprint("job", c.rand.IntN(6))
	ctx := c.Context()
	switch c.rand.IntN(10) {
	case 0, 1, 2, 3:
		_, _ = c.RegisterJob(ctx, &api.RegisterJobRequest{Job: c.job(id)})
	case 4:
		most := 8
		if id == "job4" {
			most = churnNodes
		}
		_, _ = c.ScaleJob(ctx, "default", id, &api.ScaleJobRequest{
			Count: ptr(int64(c.rand.IntN(most))), Target: map[string]string{"Group": "web"},
		})
	case 5:
		if allocs := running(c.Store().Snapshot(), id); len(allocs) > 0 {
			_, _ = c.StopAllocation(ctx, allocs[0].ID, server.StopOptions{})
		}
	case 6:
		_, _ = c.DeregisterJob(ctx, "default", id, server.DeregisterOptions{Purge: c.rand.IntN(2) == 0})
	case 7, 8:
		n := c.nodes[fmt.Sprint("n", c.rand.IntN(churnNodes))]
		n.kill()
		if c.rand.IntN(2) == 0 {
			c.pass(20 * time.Second) // long enough to be missed
		}
		c.connect(n.node, c.script)
	case 9:
		eligibility := []string{api.NodeEligible, api.NodeIneligible}[c.rand.IntN(2)]
		_, _ = c.SetNodeEligibility(ctx, fmt.Sprint("n", c.rand.IntN(churnNodes)), eligibility)
	}
}

func (c *churn) job(id string) *api.Job {
	job := serviceJob(id, c.rand.IntN(8))
	if id == "job5" {
		job = batchJob(id, 1+c.rand.IntN(4))
	} else {
		job.Groups[0].Update.MaxParallel = ptr(1 + c.rand.IntN(3))
		job.Groups[0].Update.AutoRevert = ptr(c.rand.IntN(2) == 0)
	}
	job.Groups[0].Tasks[0].Resources.CPU = ptr(50 + 50*c.rand.IntN(4))
	if c.preempt {
		job.Priority = 15*int(id[len(id)-1]-'0') + 5
		job.Groups[0].Tasks[0].Resources.CPU = ptr(100 + 100*c.rand.IntN(6))
	}
	job.Groups[0].Networks = []*api.Network{{Mode: "host", DynamicPorts: []api.Port{{Label: "http"}}}}
	job.Groups[0].Reschedule = &api.Reschedule{
		Unlimited: ptr(true), Delay: ptr(5 * time.Second), MaxDelay: ptr(30 * time.Second), DelayFunction: ptr(api.DelayConstant),
	}
	if id == "job4" {
		job.Groups[0].Constraints = []*api.Constraint{{Operand: "distinct_hosts", RTarget: "true"}}
		job.Groups[0].Count = ptr(c.rand.IntN(churnNodes)) // more would wait until their deployment fails
	}
	return changed(job, fmt.Sprint(c.rand.IntN(3)))
}

// checkAll checks every state until ctx ends.
func (c *churn) checkAll(ctx context.Context) {
	for {
		snap := c.Store().Snapshot()
		c.check(snap)
		if c.Failed() || c.Store().Wait(ctx, snap.Index()+1) != nil {
			return
		}
	}
}

// check tests what holds in every state.
func (c *churn) check(snap *state.Snapshot) {
	// What was preempted and what takes its room over are never there at the same
	// time: the node starts the one when the other has ended.
	ending, waiting := map[string]bool{}, map[string]bool{}
	for a := range snap.Allocations() {
		for _, id := range a.PreemptedAllocations {
			if p := snap.Allocation(id); p != nil && p.HoldsResources() && a.HoldsResources() {
				ending[id], waiting[a.ID] = true, true
				c.preempted++
			}
		}
		if waiting[a.ID] && a.ClientStatus != api.AllocClientPending {
			c.Errorf("state %d: %s is %s before all that it preempted has ended", snap.Index(), a, a.ClientStatus)
		}
	}
	c.checkRoom(snap, ending)
	c.checkRoom(snap, waiting)
	live := map[string]*api.Allocation{}
	for a := range snap.Allocations() {
		if a.IsTerminal() {
			continue
		}
		if other := live[a.Namespace+a.Name]; other != nil && !mayBoth(snap, a, other) {
			c.Errorf("state %d: instance %s lives twice: %s and %s\n%s", snap.Index(), a.Name, other, a, describe(snap))
		}
		live[a.Namespace+a.Name] = a
	}
	blocked := map[string]string{}
	for e := range snap.Evaluations() {
		if e.Status != api.EvalStatusBlocked {
			continue
		}
		if other := blocked[e.JobID]; other != "" {
			c.Errorf("state %d: job %s has two blocked evaluations, %s and %s", snap.Index(), e.JobID, other, e.ID)
		}
		blocked[e.JobID] = e.ID
	}
}

// mayBoth reports whether two allocations may claim one instance: one was started
// because the other's node was not heard of. Both run only until that is seen.
func mayBoth(snap *state.Snapshot, a, b *api.Allocation) bool {
	if b.CreateIndex > a.CreateIndex {
		a, b = b, a
	}
	if !slices.Contains(slices.Collect(snap.Predecessors(a)), b) {
		return false
	}
	runs := func(a *api.Allocation) bool {
		n := snap.Node(a.NodeID)
		return a.ClientStatus == api.AllocClientRunning && n != nil && n.Status == api.NodeStatusReady
	}
	if !runs(a) || !runs(b) || b.DesiredTransition.ShouldMigrate() {
		return true
	}
	for e := range snap.EvaluationsByJob(a.Namespace, a.JobID) {
		if e.Status == api.EvalStatusPending {
			return true
		}
	}
	return false
}

// checkRoom tests that no node holds more than it has, without some.
func (c *churn) checkRoom(snap *state.Snapshot, without map[string]bool) {
	for n := range snap.Nodes() {
		var used api.Usage
		ports := map[int]string{}
		for a := range snap.AllocationsByNode(n.ID) {
			if !a.HoldsResources() || without[a.ID] {
				continue
			}
			used = used.Add(a.Usage())
			for _, p := range a.AllocatedResources.Shared.Ports {
				if other := ports[p.Value]; other != "" {
					c.Errorf("state %d: port %d of node %s belongs to %s and %s", snap.Index(), p.Value, n.ID, other, a)
				}
				ports[p.Value] = a.String()
			}
		}
		if what, ok := used.Fits(n.Capacity()); !ok && n.Status == api.NodeStatusReady {
			c.Errorf("state %d: node %s is over its %s: %+v of %+v", snap.Index(), n.ID, what, used, n.Capacity())
		}
	}
}

// settle brings all nodes back and wants every service to run as it says, or
// a blocked evaluation to say why not.
func (c *churn) settle() {
	c.Helper()
	for i := range churnNodes {
		_, _ = c.SetNodeEligibility(c.Context(), fmt.Sprint("n", i), api.NodeEligible)
	}
	c.pass(time.Hour)
	snap := c.Store().Snapshot()
	for job := range snap.Jobs() {
		if job.Type == api.JobTypeBatch {
			continue
		}
		want := job.Groups[0].Size() - neverStarted(snap, job)
		if job.Stop {
			want = 0
		}
		queued := 0
		for e := range snap.EvaluationsByJob("default", job.ID) {
			switch e.Status {
			case api.EvalStatusBlocked:
				queued = e.QueuedAllocations["web"]
			case api.EvalStatusPending:
				c.Errorf("evaluation %s of %s is still pending", e.ID, e.JobID)
			}
		}
		if got := len(running(snap, job.ID)); got+queued != want {
			c.Errorf("%d instances of %s run and %d are blocked, want %d in all", got, job.ID, queued, want)
		}
		if status := deploymentStatus(snap, job.ID); status == api.DeploymentRunning && queued == 0 {
			c.Errorf("the deployment of %s still runs after an hour", job.ID)
		}
	}
	c.unchanged()
	if c.Failed() {
		c.Log(describe(c.Store().Snapshot()))
	}
}

// neverStarted counts instances that the job's newest version adds and that its
// deployment failed before: those stay away until the job changes, and their
// steps say so.
func neverStarted(snap *state.Snapshot, job *api.Job) (n int) {
	if deploymentStatus(snap, job.ID) != api.DeploymentFailed {
		return 0
	}
	view := view.Derive(snap, job.Key(), job, time.Now())
	defer view.Release()
	for _, p := range view.All() {
		for _, phase := range p.Phases {
			for _, step := range phase.Steps {
				if p.Name == "deploy" && step.Status == tree.Pending && step.Message == "the deployment failed before the instance was started" {
					n++
				}
			}
		}
	}
	return n
}

// unchanged evaluates every job again and wants nothing to come of it.
func (c *churn) unchanged() {
	c.Helper()
	sub := c.Store().Subscribe()
	defer sub.Close()
	for job := range c.Store().Snapshot().Jobs() {
		if _, err := c.EvaluateJob(c.Context(), "default", job.ID, false); err != nil {
			c.Error(err)
		}
	}
	c.pass(time.Minute)
	for end := c.Store().Index(); ; {
		b, err := sub.Next(c.Context())
		if err != nil {
			c.Fatal(err)
		}
		for _, change := range b.Changes {
			a, _ := change.New.(*api.Allocation)
			if a != nil && change.Cause == (&state.CommitPlacement{}).Name() {
				c.Errorf("evaluating an unchanged state changed allocation %s: %s (%s)", a, a.DesiredStatus, a.DesiredDescription)
			}
		}
		if b.Index >= end {
			return
		}
	}
}
