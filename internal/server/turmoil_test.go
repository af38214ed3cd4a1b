// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// TestPipelineInTurmoil is churn on a server whose log fails at random, before
// and after a write, and that loses the lead and gets it back. It checks
// every single log entry: what several workers commit is some serial order, in
// which no commit breaks a rule. When all is calm, no evaluation is lost or
// stuck: each has ended, or is blocked for a reason that is true.
func TestPipelineInTurmoil(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				tu := newTurmoil(t, seed)
				defer tu.close()
				tu.run(100)
			})
		})
	}
}

type turmoil struct {
	*churn
	lead *server.Lead

	mu      sync.Mutex // of the journal: an entry is checked before the next
	dice    *rand.Rand
	calm    bool
	commits map[api.NamespacedID]uint64 // index of each job's last placement
	faults  int
}

func newTurmoil(t *testing.T, seed uint64) *turmoil {
	tu := &turmoil{dice: rand.New(rand.NewPCG(seed, 3)), commits: map[api.NamespacedID]uint64{}}
	srv, lead, err := server.NewDisturbed(server.Config{Workers: 4, Logger: slog.New(slog.DiscardHandler)}, tu.journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	tu.lead = lead
	tu.churn = &churn{
		cluster: &cluster{TB: t, Server: srv, nodes: map[string]*fakeNode{}},
		rand:    rand.New(rand.NewPCG(seed, 1)), dice: rand.New(rand.NewPCG(seed, 2)),
	}
	return tu
}

var errDisk = errors.New("the disk is not well")

// journal has one write of the pipeline in ten fail, half of them after it was
// made, and checks the state that each write makes.
func (tu *turmoil) journal(propose server.Propose) server.Propose {
	return func(ctx context.Context, cmds ...state.Command) (uint64, []error, error) {
		tu.mu.Lock()
		defer tu.mu.Unlock()
		fault := tu.dice.IntN(20)
		if tu.calm || !ofPipeline(cmds) {
			fault = 20
		}
		if fault == 0 {
			tu.faults++
			return 0, nil, errDisk
		}
		index, errs, err := propose(ctx, cmds...)
		if err == nil && !ofBeginning(cmds[0]) {
			tu.committed(index, cmds, errs)
		}
		if fault == 1 {
			tu.faults++
			return 0, nil, errDisk
		}
		return index, errs, err
	}
}

// ofBeginning reports whether a new leader writes the command before it acts, or while its start returns.
func ofBeginning(c state.Command) bool {
	switch c.(type) {
	case *state.BeginCluster, *state.BeginTimeline:
		return true
	}
	return c.Name() == "PutRootKey"
}

func ofPipeline(cmds []state.Command) bool {
	for _, c := range cmds {
		switch c.(type) {
		case *state.CommitPlacement, *state.PutEvaluations:
		default:
			return false
		}
	}
	return true
}

// committed checks the entry that was just applied.
func (tu *turmoil) committed(index uint64, cmds []state.Command, errs []error) {
	for i, cmd := range cmds {
		c, ok := cmd.(*state.CommitPlacement)
		if !ok || errs[i] != nil || len(c.Placement.Place)+len(c.Placement.Stop) == 0 || c.Placement.Job == nil {
			continue
		}
		job := api.NamespacedID{Namespace: c.Placement.Job.Namespace, ID: c.Placement.Job.ID}
		if last := tu.commits[job]; last > c.Placement.SnapshotIndex {
			tu.Errorf("entry %d places %s as worked out on state %d: its placement of entry %d was not in it", index, job.ID, c.Placement.SnapshotIndex, last)
		}
		tu.commits[job] = index
	}
	snap := tu.Store().Snapshot()
	tu.check(snap)
	nodes := map[string]string{} // of the job whose instances must be on distinct ones
	for a := range snap.AllocationsByJob("default", "job4") {
		if a.IsTerminal() {
			continue
		}
		if other := nodes[a.NodeID]; other != "" {
			tu.Errorf("state %d: %s and %s are both on node %s\n%s", index, other, a, a.NodeID, describe(snap))
		}
		nodes[a.NodeID] = a.String()
	}
}

func (tu *turmoil) run(steps int) {
	for i := range churnNodes {
		tu.addNode(fmt.Sprint("n", i), tu.script)
	}
	for range steps {
		if tu.rand.IntN(8) == 0 {
			tu.lead.Set(false)
			tu.step()
			tu.pass(time.Duration(tu.rand.IntN(3000)) * time.Millisecond)
			tu.lead.Set(true)
		}
		tu.step()
		tu.pass(time.Duration(tu.rand.IntN(5000)) * time.Millisecond)
		if tu.Failed() {
			return
		}
	}
	tu.mu.Lock()
	tu.calm = true
	tu.mu.Unlock()
	tu.churn.mu.Lock()
	tu.churn.calm = true
	tu.churn.mu.Unlock()
	tu.settle()
	tu.settled()
	if tu.faults == 0 {
		tu.Error("not one write failed: this tested nothing")
	}
}

// settled checks every evaluation and every job when nothing happens any more.
func (tu *turmoil) settled() {
	snap := tu.Store().Snapshot()
	blocked := map[string]*api.Evaluation{}
	for e := range snap.Evaluations() {
		switch {
		case e.Status == api.EvalStatusBlocked:
			blocked[e.JobID] = e
		case e.Status == api.EvalStatusFailed:
			if e.NextEval == "" {
				tu.Errorf("evaluation %s of %s failed and nothing follows it", e.ID, e.JobID)
			}
		case !e.IsTerminal() && !e.WaitUntil.After(time.Now()):
			tu.Errorf("evaluation %s of %s is %s and nobody works it out", e.ID, e.JobID, e.Status)
		}
	}
	for job := range snap.Jobs() {
		_, outcome, err := tu.DryRun(tu.Context(), job)
		if err != nil {
			tu.Fatal(err)
		}
		if n := len(outcome.Place); n > 0 {
			tu.Errorf("%d instances of %s could be placed, and nobody does; blocked: %+v", n, job.ID, blocked[job.ID])
		}
		switch e := blocked[job.ID]; {
		case e == nil && len(outcome.Queued) > 0:
			tu.Errorf("%s lacks %v, and no evaluation is blocked for it", job.ID, outcome.Queued)
		case e != nil && !maps.Equal(nonzero(e.QueuedAllocations), nonzero(outcome.Queued)):
			tu.Errorf("the blocked evaluation of %s says that %v is queued, it is %v", job.ID, e.QueuedAllocations, outcome.Queued)
		case e != nil && len(e.FailedGroups) == 0 && len(outcome.Waiting) == 0:
			tu.Errorf("the blocked evaluation of %s gives no reason", job.ID)
		}
	}
	if tu.Failed() {
		tu.Log(describe(snap))
	}
}

func nonzero(m map[string]int) map[string]int {
	out := map[string]int{}
	for k, v := range m {
		if v != 0 {
			out[k] = v
		}
	}
	return out
}
