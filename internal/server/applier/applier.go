// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package applier commits placements: it is where the guesses of many workers
// become one history.
//
// # Why there is one
//
// Workers place on snapshots, at the same time and without locks. Two of them
// may see the same room and both take it. The naive remedies are to let only
// one place at a time, which throws away all but one processor and waits for
// the disk after every job; or to let each commit for itself and have the
// state refuse what does not fit, which makes every command carry the check of
// every node, on every server, inside the one place that must not be slow.
//
// So placing is optimistic and committing is checked once, here, on the
// leader, before anything goes to the log.
//
// # Checked against what
//
// Against the newest state, and against what has been checked and is not in
// the state yet: its log entry is being written. Waiting for that entry would
// cost one disk write per placement. Instead what was checked is reserved in
// the fleet at once, and the next placement is checked on top. Workers see the
// reservations too, so they hardly ever collide in the first place.
//
// Reserving before the outcome is known is safe because of these invariants:
//
//  1. A placement only ever takes room. Being told to stop frees nothing; room
//     is freed when a node says that nothing runs any more (and the node that
//     a lost allocation was on takes nothing). So if an earlier entry fails to
//     be written, what was checked after it still fits: the order of entries
//     in flight does not matter, and none has to be undone.
//     One that preempts waits, on its node, for the end of what it preempts. It
//     is checked as if that were gone, and both are counted until it is: what
//     may run at the same time always fits, and nobody else gets room that is
//     promised. Two may wait for the same if there is room for both: each
//     says itself what it preempts, so neither counts on the other's entry.
//  2. Only the leader's applier commits placements, one goroutine checks them,
//     and a term's reservations begin empty after all entries of earlier terms
//     are applied.
//  3. A placement is committed only to the state of its job that it was worked
//     out on: if another placement of the job is in flight, or went into the
//     log after the snapshot, it is refused whole. So a worker that was given
//     up on cannot start an instance a second time, however late it wakes.
//     The same goes for what operators decide about the job's plans: once a verb
//     has returned, nothing begins that was worked out before it. What is decided
//     between the check and the log entry the state itself refuses.
//  4. What is refused is given back: a refused allocation is left out together
//     with the stop of what it would have replaced, and the evaluation does
//     not end. The worker tries again on a state that has what was in its way.
//
// # Few, large entries
//
// While entries are on their way to the disk, submissions queue up; all that
// are waiting then go into one entry. Under load an entry holds dozens of
// placements, with little load it holds one and nobody waits for a timer. The
// end of an evaluation travels in the entry of its placement: one disk write.
package applier

import (
	"context"
	"log/slog"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/state"
)

// Bounds of one log entry, and of entries that are being written at once.
const (
	maxSubmissions = 256
	maxAllocations = 8192
	maxInFlight    = 2
)

// Env is what an Applier needs from its server.
type Env struct {
	Store *state.Store
	Fleet *fleet.Fleet
	// Propose writes commands into one log entry: one error per command, or
	// one for all.
	Propose func(context.Context, ...state.Command) (index uint64, errs []error, err error)
	Logger  *slog.Logger
}

// An Applier checks placements and has them written. Submit may be called
// from any goroutine while Run runs.
type Applier struct {
	env   Env
	queue chan *submission
	jobs  *recent
}

// A Submission is what a worker wants committed.
type Submission struct {
	Job       api.NamespacedID
	Placement *state.Placement
	// Claimed are those of its allocations that are reserved in the fleet
	// already. From now on they are the applier's.
	Claimed []*api.Allocation
	// Ends are evaluations that are written in the same entry, but only if the
	// whole placement is: they end.
	Ends []*api.Evaluation
}

// A Result says what became of a Submission.
type Result struct {
	Index   uint64              // of the log entry; 0 if nothing was written
	Whole   bool                // all of it was committed, the ends too
	Placed  int                 // allocations committed
	Refused []placement.Refusal // what was not, and why
	// Refresh is the state to try again on, at least, if it was not whole.
	Refresh uint64
}

type submission struct {
	*Submission
	result Result
	err    error
	done   chan struct{}
}

// New returns an applier that Run has to run.
func New(env Env) *Applier {
	return &Applier{env: env, queue: make(chan *submission, maxSubmissions), jobs: newRecent()}
}

// Submit has a placement checked and written, and returns when it is applied.
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

// Run commits until ctx ends. It returns when nothing is in flight any more.
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
		e := a.check(ctx, batch)
		flying.Go(func() {
			defer func() { <-slots }()
			a.write(ctx, e)
		})
	}
}

// take waits for a submission and returns it with all that wait behind it.
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

// entry is one log entry in the making.
type entry struct {
	commands []state.Command
	parts    []part
}

// part is one submission's share of an entry.
type part struct {
	sub      *submission
	command  int // its first in commands; -1: none
	commands int
	reserved []*api.Allocation
	whole    bool
}

// check decides what of the submissions is committed, and reserves it.
func (a *Applier) check(ctx context.Context, batch []*submission) *entry {
	e := &entry{}
	for _, s := range batch {
		snap := a.env.Store.Snapshot()
		if snap.Decided(s.Job.Namespace, s.Job.ID) > s.Placement.SnapshotIndex && s.Placement.SnapshotIndex > 0 {
			a.refuse(e, s, snap, "something was decided about the job meanwhile")
			continue
		}
		if isEmpty(s.Placement) {
			// Only evaluations end; not if something is decided until that is
			// applied, as they may wait for what is not to be any more.
			ends := *s.Placement
			ends.Evaluations = s.Ends
			e.add(part{sub: s, whole: true}, &state.CommitPlacement{Placement: &ends})
			continue
		}
		if !a.jobs.begin(s.Job, s.Placement.SnapshotIndex) {
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

// refuse has a submission worked out again on a newer state.
func (a *Applier) refuse(e *entry, s *submission, snap *state.Snapshot, reason string) {
	a.env.Fleet.Release(s.Claimed)
	s.result.Refresh = snap.Index()
	s.result.Refused = []placement.Refusal{{Reason: reason}}
	e.parts = append(e.parts, part{sub: s, command: -1})
}

// settle checks a submission and reserves what is accepted of it.
func (a *Applier) settle(ctx context.Context, s *submission, snap *state.Snapshot) (p *state.Placement, one part, err error) {
	one.sub = s
	newest := func(id string) *api.Allocation { return a.env.Store.Snapshot().Allocation(id) } // no older than the fleet
	err = a.env.Fleet.Settle(ctx, snap.Index(), s.Claimed, s.Placement.Place, newest,
		func(refused []placement.Refusal) []*api.Allocation {
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

// accept returns the part of a placement that was not refused: all, nothing,
// or what is left without the refused allocations.
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
	keep := map[string]bool{} // what refused allocations would have replaced
	rest.Place = nil
	for _, alloc := range p.Place {
		if !out[alloc.ID] {
			rest.Place = append(rest.Place, alloc)
		} else if alloc.PreviousAllocation != "" {
			keep[alloc.PreviousAllocation] = true
		}
	}
	rest.Preempt = nil // what refused ones would have preempted goes on
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

// write has an entry written and tells the submitters.
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
		case err != nil:
			p.sub.err = err
		case errs[p.command] != nil && api.CodeOf(errs[p.command]) == api.CodeConflict:
			// The state went on while the entry was on its way.
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
