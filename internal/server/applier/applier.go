// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package applier commits placements: it merges the proposals of many workers into one
// history.
//
// # Why one applier exists
//
// Workers place on snapshots, at the same time and without locks. Two of them may see the
// same room and both take it. The naive remedies are:
//
//   - Only one worker may place at a time. This leaves all but one processor idle and
//     waits for the disk after every job.
//   - Each worker commits for itself, and the state rejects placements that do not fit.
//     Every command then carries the check of every node, on every server, in the one
//     place that must not be slow.
//
// Placement is therefore optimistic, and the applier checks each commit once, on the
// leader, before anything goes to the log.
//
// # What the check compares with
//
// The applier checks against the newest state and against all placements that have passed
// the check but are not in the state yet, because their log entry is being written.
// Waiting for that entry would cost one disk write per placement. The applier reserves
// checked placements in the fleet immediately instead, and checks the next placement on
// top. Workers see the reservations too, so they rarely collide.
//
// Reserving before the outcome is known is safe because of these invariants:
//
//  1. A placement only takes capacity; a stop command frees none. Capacity is freed when a
//     node reports that an allocation has ended (and the node of a lost allocation
//     accepts no allocations). If an earlier entry fails, later checked placements
//     therefore still fit: the order of entries in flight does not matter, and none has
//     to be undone. A placement that preempts waits, on its node, until the preempted
//     allocations end. The check ignores the preempted allocations, and both are counted
//     until these end. All allocations that may run at the same time therefore always
//     fit, and promised capacity goes to no other allocation. Two placements may wait for
//     the same allocation if the capacity suffices for both: each lists the allocations
//     that it preempts, so neither depends on the other's entry.
//  2. Only the leader's applier commits placements, and one goroutine checks them. The
//     reservations of a term start empty, after all entries of earlier terms are
//     applied.
//  3. A placement is committed only if its job has not changed since the placement's
//     snapshot. If another placement of the job is in flight, or was committed after
//     the snapshot, the applier refuses the whole placement. A worker that lost its
//     delivery therefore cannot start an instance twice, however late it resumes. The
//     same holds for operators' decisions about the job's plans: after such a command
//     has returned, no placement with an older snapshot is committed. If the decision
//     is made between the check and the log entry, the state itself rejects the
//     placement.
//  4. Quotas limit sums over all nodes. An allocation in flight counts in full, and a stop
//     frees nothing of a quota before it is applied, except for allocations of the same
//     entry: see overQuota.
//  5. Refused parts go back to the worker. A refused allocation is left out together
//     with the stop of its predecessor, and the evaluation does not end. The worker
//     retries on a state that includes the obstacle.
//
// # Few, large entries
//
// Submissions queue up while entries are written to disk. All waiting submissions then go
// into one entry. Under load an entry holds dozens of placements; under light load it
// holds one, and no submission waits for a timer. The end of an evaluation is part of the
// entry of its placement, which takes one disk write.
package applier

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/state"
)

// Bounds of one log entry, and of the number of entries written concurrently.
const (
	maxSubmissions = 256
	maxAllocations = 8192
	maxInFlight    = 2
)

// Env holds the dependencies of an Applier.
type Env struct {
	Store *state.Store
	Fleet *fleet.Tracker
	// Propose writes commands into one log entry. It returns one error per command, or one
	// for all.
	Propose func(context.Context, ...state.Command) (index uint64, errs []error, err error)
	Logger  *slog.Logger
	// Checks measures the checks of batches of submissions; nil: nothing does.
	Checks *latency.Histogram
}

// An Applier checks placements and writes them to the log. Any goroutine may call Submit
// while Run runs.
type Applier struct {
	env   Env
	queue chan *submission
	jobs  *recent
}

// A Submission holds the changes that a worker wants committed.
type Submission struct {
	Job       api.NamespacedID
	Placement *state.Placement
	// Claimed lists those of its allocations that are already reserved in the fleet. From
	// now on they belong to the applier.
	Claimed []*api.Allocation
	// Ends are evaluations to end. They are written in the same entry, and only if the
	// whole placement is committed.
	Ends []*api.Evaluation
}

// A Result is the outcome of a Submission.
type Result struct {
	Index   uint64              // index of the log entry; 0 if nothing was written
	Whole   bool                // reports whether everything was committed, including the ends
	Placed  int                 // number of committed allocations
	Refused []placement.Refusal // refused allocations and reasons
	// Refresh is the minimum state index for a retry if Whole is false.
	Refresh uint64
}

type submission struct {
	*Submission
	result Result
	err    error
	done   chan struct{}
}

// New returns an applier. Call Run to start it.
func New(env Env) *Applier {
	return &Applier{env: env, queue: make(chan *submission, maxSubmissions), jobs: newRecent()}
}

// Submit checks and writes a placement. It returns when the placement is applied.
func (a *Applier) Submit(ctx context.Context, s *Submission) (*Result, error) {
	sub := &submission{Submission: s, done: make(chan struct{})}
	select {
	case a.queue <- sub:
	case <-ctx.Done():
		a.env.Fleet.Release(s.Claimed)
		return nil, ctx.Err()
	}
	select {
	case <-sub.done:
		return &sub.result, sub.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Discard releases what a submission that is not submitted has claimed.
func (a *Applier) Discard(s *Submission) { a.env.Fleet.Release(s.Claimed) }

// Queued returns the number of submissions that wait for their check.
func (a *Applier) Queued() int { return len(a.queue) }

// Run commits submissions until ctx ends. It returns when no entry is in flight.
func (a *Applier) Run(ctx context.Context) {
	slots := make(chan struct{}, maxInFlight)
	var flying sync.WaitGroup
	defer flying.Wait()
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		batch := a.take(ctx)
		if batch == nil {
			return
		}
		begun := time.Now()
		e := a.check(ctx, batch)
		a.env.Checks.Observe(time.Since(begun))
		flying.Go(func() {
			defer func() { <-slots }()
			a.write(ctx, e)
		})
	}
}

// take waits for a submission and returns it together with all queued ones.
func (a *Applier) take(ctx context.Context) []*submission {
	var batch []*submission
	select {
	case s := <-a.queue:
		batch = append(batch, s)
	case <-ctx.Done():
		return nil
	}
	for n := len(batch[0].Placement.Place); len(batch) < maxSubmissions && n < maxAllocations; {
		select {
		case s := <-a.queue:
			batch = append(batch, s)
			n += len(s.Placement.Place)
		default:
			return batch
		}
	}
	return batch
}

// An entry is a log entry under construction.
type entry struct {
	commands []state.Command
	parts    []part
}

// A part is one submission's share of an entry.
type part struct {
	sub      *submission
	command  int // index of its first command; -1: none
	commands int
	reserved []*api.Allocation
	whole    bool
}

// check decides which parts of the submissions are committed, and reserves them.
func (a *Applier) check(ctx context.Context, batch []*submission) *entry {
	e := &entry{}
	for _, s := range batch {
		snap := a.env.Store.Snapshot()
		if snap.Decided(s.Job.Namespace, s.Job.ID) > s.Placement.SnapshotIndex && s.Placement.SnapshotIndex > 0 {
			a.refuse(e, s, snap, "something was decided about the job meanwhile")
			continue
		}
		if isEmpty(s.Placement) {
			// Only evaluations end. The state rejects this if a decision about the job
			// precedes the entry, because the evaluations may wait for instances that are
			// no longer wanted.
			ends := *s.Placement
			ends.Evaluations = s.Ends
			e.add(part{sub: s, whole: true}, &state.CommitPlacement{Placement: &ends})
			continue
		}
		if !a.jobs.begin(s.Job, s.Placement.SnapshotIndex) && !plantedNoRecheck {
			a.refuse(e, s, snap, "the job was placed meanwhile")
			continue
		}
		p, one, err := a.settle(ctx, s, snap)
		if err != nil {
			a.jobs.end(s.Job, 0)
			s.err = err
			e.parts = append(e.parts, part{sub: s, command: -1})
			continue
		}
		s.result.Placed, s.result.Refresh = len(p.Place), snap.Index()
		if one.whole {
			p.Evaluations = append(p.Evaluations[:len(p.Evaluations):len(p.Evaluations)], s.Ends...)
		}
		if isEmpty(p) {
			a.jobs.end(s.Job, 0)
			one.command = -1
			e.parts = append(e.parts, one)
			continue
		}
		e.add(one, &state.CommitPlacement{Placement: p})
	}
	return e
}

// refuse rejects a submission so that its worker evaluates it again on a newer state.
func (a *Applier) refuse(e *entry, s *submission, snap *state.Snapshot, reason string) {
	a.env.Fleet.Release(s.Claimed)
	s.result.Refresh = snap.Index()
	s.result.Refused = []placement.Refusal{{Reason: reason}}
	e.parts = append(e.parts, part{sub: s, command: -1})
}

// settle checks a submission and reserves its accepted allocations.
func (a *Applier) settle(ctx context.Context, s *submission, snap *state.Snapshot) (p *state.Placement, one part, err error) {
	one.sub = s
	newest := func(id string) *api.Allocation { return a.env.Store.Snapshot().Allocation(id) } // no older than the fleet
	err = a.env.Fleet.Settle(ctx, snap.Index(), s.Claimed, s.Placement.Place, newest,
		func(refused []placement.Refusal, others iter.Seq[*api.Allocation]) []*api.Allocation {
			refused = append(refused, overQuota(a.env.Store.Snapshot(), s, refused, others)...)
			if plantedNoRecheck {
				refused = nil
			}
			p, s.result.Refused = accept(s.Placement, refused)
			one.whole = len(refused) == 0
			for _, alloc := range p.Place {
				if alloc.CreateIndex == 0 || snap.Allocation(alloc.ID) == nil {
					one.reserved = append(one.reserved, alloc)
				}
			}
			return one.reserved
		})
	return p, one, err
}

func (e *entry) add(p part, c state.Command) {
	p.command, p.commands = len(e.commands), 1
	e.commands = append(e.commands, c)
	e.parts = append(e.parts, p)
}

// accept returns the accepted part of a placement: all of it, nothing, or the placement
// without the refused allocations.
func accept(p *state.Placement, refused []placement.Refusal) (*state.Placement, []placement.Refusal) {
	rest := *p
	if len(refused) == 0 {
		return &rest, nil
	}
	if p.AllAtOnce {
		return &state.Placement{}, refused
	}
	out := make(map[string]bool, len(refused))
	for _, r := range refused {
		out[r.AllocID] = true
	}
	keep := map[string]bool{} // predecessors of refused allocations
	rest.Place = nil
	for _, alloc := range p.Place {
		if !out[alloc.ID] {
			rest.Place = append(rest.Place, alloc)
		} else if alloc.PreviousAllocation != "" {
			keep[alloc.PreviousAllocation] = true
		}
	}
	rest.Preempt = nil // victims of refused allocations keep running
	for _, v := range p.Preempt {
		if !out[v.By] {
			rest.Preempt = append(rest.Preempt, v)
		}
	}
	rest.Stop = nil
	for _, s := range p.Stop {
		if !keep[s.ID] || s.ClientStatus == api.AllocClientLost {
			rest.Stop = append(rest.Stop, s)
		}
	}
	return &rest, refused
}

// isEmpty reports whether the placement changes nothing.
func isEmpty(p *state.Placement) bool {
	return len(p.Place)+len(p.Stop)+len(p.DeploymentUpdates)+len(p.Evaluations) == 0 && p.Deployment == nil &&
		p.Restart == nil && !p.Deregister
}

// write writes an entry and notifies the submitters.
func (a *Applier) write(ctx context.Context, e *entry) {
	var index uint64
	var errs []error
	var err error
	if len(e.commands) > 0 {
		index, errs, err = a.env.Propose(ctx, e.commands...)
	}
	for _, p := range e.parts {
		switch {
		case p.command < 0:
			// The obstacle may be in this entry: a worker on another server sees it there.
			p.sub.result.Refresh = max(p.sub.result.Refresh, index)
		case err != nil:
			p.sub.err = err
		case errs[p.command] != nil && api.CodeOf(errs[p.command]) == api.CodeConflict:
			// The state changed before the entry was applied.
			p.sub.result.Placed, p.sub.result.Refresh = 0, max(p.sub.result.Refresh, index)
			p.sub.result.Refused = []placement.Refusal{{Reason: errs[p.command].Error()}}
			a.env.Fleet.Release(p.reserved)
		case errs[p.command] != nil:
			p.sub.err = errs[p.command]
		default:
			p.sub.result.Index, p.sub.result.Whole = index, p.whole
			p.sub.result.Refresh = max(p.sub.result.Refresh, index)
		}
		if p.sub.err != nil {
			a.env.Fleet.Release(p.reserved)
		}
		if p.command >= 0 && !isEmpty(p.sub.Placement) {
			a.jobs.end(p.sub.Job, p.sub.result.Index)
		}
		close(p.sub.done)
	}
}
