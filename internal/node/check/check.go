// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package check asks running instances whether they are well: by HTTP, by gRPC's
// health protocol, by opening a TCP connection, or by running a command in the
// task.
//
// One Scheduler serves a whole node. Checks that wait cost an entry in a heap,
// not a goroutine; a goroutine exists only while a probe is under way. The
// package decides what a check's status is, and when it is bad enough to restart
// a task, and says why in words; what then happens is the runner's business.
package check

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/heap"
)

// ErrGone is returned by Target.Exec when the task ended, and the command with it:
// that is told by how the task ended, not by a check.
var ErrGone = errors.New("the task has ended")

// A Target is one check of one allocation.
type Target struct {
	ID      string
	Check   *api.Check // interpolated
	Service string
	Group   string
	Task    string
	Address string // host:port; not for scripts
	// Since is when what it asks began: its initial delay and its start timeout
	// count from then. Zero is now.
	Since time.Time
	// Status is what is known of it, until it is found otherwise. "" is nothing.
	Status string
	// Exec runs a script check's command in its task. It may write to out from
	// several goroutines. ErrGone is that the task ended meanwhile.
	Exec func(ctx context.Context, argv []string, out io.Writer) (int, error)
	// Diagnose, if it is set, looks for the reason why what it asks does not answer,
	// or not as it should: Refused is that nobody accepted the connection. A kind of
	// "" is that it found none.
	Diagnose func(refused bool) (kind api.TroubleKind, words string)
	// Changed is called when the status changed, the check has proved by its own
	// probes that it passes, or it fails for another reason than before; without
	// locks held.
	Changed func(id, status string)
	// Failed is called instead when what it asks is to be started again: why, in
	// words.
	Failed func(id, status, why string)
}

// fastest are the waits before the first probes of a check that has not passed
// yet; see pause.
var fastest = []time.Duration{
	0, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
}

// A Scheduler probes all checks of a node when they are due.
type Scheduler struct {
	probe func(ctx context.Context, t *Target) result
	slots chan struct{} // one per probe under way

	mu     sync.Mutex
	queue  heap.Indexed[*entry]         // checks by the time of their next probe
	allocs map[string]map[string]*entry // allocation, check
	wake   chan struct{}
}

// concurrent bounds how many probes are under way at once.
const concurrent = 512

// New makes a scheduler; Run drives it.
func New() *Scheduler {
	return &Scheduler{
		probe:  newProber().probe,
		slots:  make(chan struct{}, concurrent),
		allocs: map[string]map[string]*entry{},
		wake:   make(chan struct{}, 1),
		queue: heap.NewIndexed(
			func(a, b *entry) bool { return a.due.Before(b.due) },
			func(e *entry) *int { return &e.index },
		),
	}
}

// An entry is a check and what is known of it.
type entry struct {
	target  *Target
	random  *rand.Rand
	since   time.Time // when what it asks began
	added   time.Time // of which check_restart's grace counts
	turned  time.Time // when its status changed last
	due     time.Time
	index   int // in the queue; -1 while it is probed or removed
	removed bool

	status     string
	passed     bool // ever
	proved     bool // by its own probes, whatever it was added with
	passedAt   time.Time
	crashed    bool // it was said so
	tries      int
	successes  int // in a row
	failures   int // in a row
	strikes    int // failures in a row that check_restart counts
	struckAt   time.Time
	output     string
	statusCode int
	stamp      int64

	failure   *api.CheckFailure // replaced, never changed in place; nil while it does not fail
	diagnosed time.Time         // when the reason was looked for last
	finding   finding
}

// Add starts checking. A check of the same id is replaced.
func (s *Scheduler) Add(alloc string, t *Target) {
	now := time.Now()
	h := fnv.New64a()
	io.WriteString(h, alloc+"/"+t.ID)
	e := &entry{target: t, since: t.Since, added: now, turned: now, due: now, index: -1, status: t.Status,
		random: rand.New(rand.NewPCG(h.Sum64(), 1))}
	if e.since.IsZero() {
		e.since = now
	}
	switch first := e.since.Add(t.Check.InitialDelay); {
	case t.Status == "":
		e.status = api.CheckStatusPending
		if first.After(now) {
			e.due = first
		}
	case t.Status == api.CheckStatusSuccess:
		e.passed, e.passedAt = true, e.since
	}
	s.mu.Lock()
	if s.allocs[alloc] == nil {
		s.allocs[alloc] = map[string]*entry{}
	}
	if old := s.allocs[alloc][t.ID]; old != nil {
		s.drop(old)
	}
	s.allocs[alloc][t.ID] = e
	s.queue.Put(e)
	s.mu.Unlock()
	s.nudge()
}

// HasProved reports whether the check has passed by its own probes, and not only
// because it was added as one that does.
func (s *Scheduler) HasProved(alloc, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.allocs[alloc][id]
	return e != nil && e.proved
}

// Remove ends a check.
func (s *Scheduler) Remove(alloc, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.allocs[alloc][id]; e != nil {
		s.drop(e)
		delete(s.allocs[alloc], id)
		if len(s.allocs[alloc]) == 0 {
			delete(s.allocs, alloc)
		}
	}
}

func (s *Scheduler) drop(e *entry) {
	e.removed = true
	s.queue.Remove(e)
}

// Statuses are the last results of an allocation's checks, by check id.
func (s *Scheduler) Statuses(alloc string) map[string]*api.CheckStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]*api.CheckStatus, len(s.allocs[alloc]))
	for id, e := range s.allocs[alloc] {
		t := e.target
		all[id] = &api.CheckStatus{
			ID: id, Check: t.Check.Name, Group: t.Group, Mode: "healthiness", Output: e.output, Service: t.Service,
			Task: t.Task, Status: e.status, StatusCode: e.statusCode, Timestamp: e.stamp, Kind: t.Check.Kind,
		}
		if t.Check.OnUpdate == "ignore" {
			all[id].Mode = "readiness"
		}
	}
	return all
}

// Run probes until ctx ends, and waits for probes under way.
func (s *Scheduler) Run(ctx context.Context) {
	var probes sync.WaitGroup
	defer probes.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		e, wait := s.next(time.Now())
		if e != nil {
			select {
			case s.slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			probes.Go(func() {
				defer func() { <-s.slots }()
				s.run(ctx, e)
			})
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// next takes the check that is due from the queue, or says how long to wait.
func (s *Scheduler) next(now time.Time) (*entry, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.queue.First()
	if !ok {
		return nil, time.Hour
	}
	if wait := e.due.Sub(now); wait > 0 {
		return nil, wait
	}
	s.queue.Remove(e)
	return e, 0
}

func (s *Scheduler) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run probes one check, and puts it back into the queue. Nothing else changes
// the entry meanwhile.
func (s *Scheduler) run(ctx context.Context, e *entry) {
	t := e.target
	timeout := t.Check.Timeout
	deadline, limited := e.deadline()
	left := time.Until(deadline)
	late := limited && left <= 0 && e.tries > 0
	if limited && left > 0 {
		timeout = min(timeout, left)
	}
	var r result
	if !late {
		probeCtx, cancel := context.WithTimeout(ctx, timeout)
		r = s.probe(probeCtx, t)
		cancel()
		e.diagnose(&r, time.Now())
	}
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	s.mu.Lock()
	if e.removed {
		s.mu.Unlock()
		return
	}
	var changed bool
	var why string
	if !r.void {
		changed = !late && e.judge(r, now)
		changed = !late && e.tell(r, now) || changed
		why = e.verdict(r, now)
	}
	e.due = now.Add(e.pause(now))
	if at, limited := e.deadline(); limited && e.due.After(at) && at.After(now) {
		e.due = at
	}
	s.queue.Put(e)
	status := e.status
	s.mu.Unlock()
	s.nudge()
	switch {
	case why != "" && t.Failed != nil:
		t.Failed(t.ID, status, why)
	case changed && t.Changed != nil:
		t.Changed(t.ID, status)
	}
}
