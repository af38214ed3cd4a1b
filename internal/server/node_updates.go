// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/state"
)

// UpdateAllocations stores what a node says of its allocations, and makes an
// evaluation for every job that has to react. It returns when that is durable.
func (s *Server) UpdateAllocations(ctx context.Context, nodeID, secret string, allocs []*api.Allocation) (uint64, error) {
	if _, err := authenticate(s.store.Snapshot(), nodeID, secret); err != nil {
		return 0, err
	}
	for i, a := range allocs {
		if a == nil || a.ID == "" {
			return 0, api.Errorf(api.CodeInvalid, "Alloc[%d] has no ID", i)
		}
		switch a.ClientStatus {
		case api.AllocClientPending, api.AllocClientRunning, api.AllocClientComplete, api.AllocClientFailed,
			api.AllocClientLost, api.AllocClientUnknown:
		default:
			return 0, api.Errorf(api.CodeInvalid, "Alloc[%d].ClientStatus is %q; it must be pending, running, complete or failed",
				i, a.ClientStatus)
		}
	}
	if len(allocs) == 0 {
		return s.store.Index(), nil
	}
	return s.reports.add(ctx, &report{nodeID: nodeID, allocs: allocs, done: make(chan struct{})})
}

// reports turns concurrent calls of UpdateAllocations into few log entries:
// what arrives while one is written goes into the next. A thousand instances
// of a job that fail together on a thousand nodes then make one evaluation,
// not a thousand.
type reports struct {
	s      *Server
	signal chan struct{}

	mu      sync.Mutex
	waiting []*report
	closed  bool
}

type report struct {
	nodeID string
	allocs []*api.Allocation
	index  uint64
	err    error
	done   chan struct{}
}

// reportsPerEntry bounds a log entry.
const reportsPerEntry = 512

func newReports(s *Server) *reports { return &reports{s: s, signal: make(chan struct{}, 1)} }

func (r *reports) add(ctx context.Context, rep *report) (uint64, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return 0, errShutdown
	}
	r.waiting = append(r.waiting, rep)
	r.mu.Unlock()
	r.wake()
	select {
	case <-rep.done:
		return rep.index, rep.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (r *reports) wake() {
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

// run writes reports until ctx ends.
func (r *reports) run(ctx context.Context) {
	for {
		select {
		case <-r.signal:
			r.flush(ctx)
		case <-ctx.Done():
			r.mu.Lock()
			r.closed = true
			for _, rep := range r.waiting {
				rep.err = errShutdown
				close(rep.done)
			}
			r.waiting = nil
			r.mu.Unlock()
			return
		}
	}
}

func (r *reports) flush(ctx context.Context) {
	r.mu.Lock()
	batch := r.waiting
	if len(batch) > reportsPerEntry {
		batch = batch[:reportsPerEntry:reportsPerEntry]
		r.wake()
	}
	r.waiting = r.waiting[len(batch):]
	r.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	snap, now := r.s.store.Snapshot(), time.Now()
	evaluated := map[api.NamespacedID]bool{}
	cmds := make([]state.Command, len(batch))
	for i, rep := range batch {
		cmds[i] = &state.UpdateAllocations{
			NodeID: rep.nodeID, Allocations: rep.allocs,
			Evaluations: reactions(snap, rep.allocs, evaluated, now), Time: now.UnixNano(),
		}
	}
	index, errs, err := r.s.proposeEach(ctx, cmds...)
	for i, rep := range batch {
		rep.index, rep.err = index, err
		if err == nil {
			rep.err = errs[i]
		}
		close(rep.done)
	}
}

// reactions are evaluations of the jobs that have something to do now, one per
// job that is not in evaluated yet.
func reactions(snap *state.Snapshot, reported []*api.Allocation, evaluated map[api.NamespacedID]bool, now time.Time) (evals []*api.Evaluation) {
	for _, rep := range reported {
		old := snap.Allocation(rep.ID)
		if old == nil || evaluated[old.JobKey()] {
			continue
		}
		job := snap.Job(old.Namespace, old.JobID)
		if job == nil || job.Stop || isDone(job, rep) {
			continue
		}
		is := old.Copy()
		is.ClientStatus = rep.ClientStatus
		if s := rep.DeploymentStatus; s != nil && s.Healthy != nil {
			is.DeploymentStatus = s
		}
		trigger, needed := plan.NeedsEvaluation(old, is)
		if !needed {
			continue
		}
		evaluated[old.JobKey()] = true
		evals = append(evals, newEvaluation(job, trigger, now))
	}
	return evals
}

// isDone reports whether an allocation only did what its job is for, and no
// other group can be waiting for that.
func isDone(job *api.Job, rep *api.Allocation) bool {
	return rep.ClientStatus == api.AllocClientComplete && job.RunsToCompletion() && len(job.Groups) == 1
}
