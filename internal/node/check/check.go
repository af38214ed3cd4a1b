// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package check probes running instances: over HTTP, with gRPC's health protocol, by opening
// a TCP connection, or by running a command in the task.
//
// One Scheduler serves a whole node. A waiting check costs an entry in a heap, not a
// goroutine; a goroutine exists only during a probe. The package decides the status of a
// check and whether it requires a restart of the task, and describes the reason. The runner
// acts on that.
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

// ErrGone is returned by Target.Exec if the command ended because its task ended. The task's
// exit explains that, not the check.
var ErrGone = errors.New("the task has ended")

// A Target is one check of one allocation.
type Target struct {
	ID      string
	Check   *api.Check // interpolated
	Service string
	Group   string
	Task    string
	Address string // host:port; unused for scripts
	// Since is when the probed tasks started. The initial delay and the start timeout count
	// from then; zero means now.
	Since time.Time
	// Status is the initial status; "" if unknown.
	Status string
	// Exec runs a script check's command in its task. It may write to out from several
	// goroutines. It returns ErrGone if the task ended in the meantime.
	Exec func(ctx context.Context, argv []string, out io.Writer) (int, error)
	// Diagnose, if set, looks for the reason of a failed probe. refused reports whether the
	// connection was refused. It returns the kind "" if it finds no reason.
	Diagnose func(refused bool) (kind api.TroubleKind, words string)
	// Changed is called without locks when the status changed, when the check's own probes
	// proved that it passes, or when it fails for another reason than before.
	Changed func(id, status string)
	// Failed is called instead if the probed tasks must be restarted, with the reason.
	Failed func(id, status, why string)
}

// initialDelays holds the delays before the first probes of a check that has not passed yet; see
// pause.
var initialDelays = []time.Duration{
	0, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
}

// A Scheduler probes all checks of a node when they are due.
type Scheduler struct {
	probe func(ctx context.Context, t *Target) result
	slots chan struct{} // one per probe in flight

	mu     sync.Mutex
	queue  heap.Indexed[*entry]         // checks by the time of their next probe
	allocs map[string]map[string]*entry // allocation, check
	wake   chan struct{}
}

// maxConcurrent bounds the number of probes in flight.
const maxConcurrent = 512

// New makes a scheduler; Run drives it.
func New() *Scheduler {
	return &Scheduler{
		probe:  newProber().probe,
		slots:  make(chan struct{}, maxConcurrent),
		allocs: map[string]map[string]*entry{},
		wake:   make(chan struct{}, 1),
		queue: heap.NewIndexed(
			func(a, b *entry) bool { return a.due.Before(b.due) },
			func(e *entry) *int { return &e.index },
		),
	}
}

// An entry is a check and its state.
type entry struct {
	target  *Target
	random  *rand.Rand
	since   time.Time // start of the probed tasks
	added   time.Time // start of check_restart's grace
	turned  time.Time // time of the last change of status
	due     time.Time
	index   int // position in the queue; -1 during a probe and after removal
	removed bool

	status     string
	passed     bool // reports whether it ever passed
	proved     bool // reports whether its own probes passed, as opposed to its initial status
	passedAt   time.Time
	crashed    bool // reports whether Failed was called
	tries      int
	successes  int // consecutive
	failures   int // consecutive
	strikes    int // consecutive failures that count for check_restart
	struckAt   time.Time
	output     string
	statusCode int
	stamp      int64

	failure   *api.CheckFailure // replaced, never changed in place; nil unless it fails
	diagnosed time.Time         // time of the last diagnosis
	finding   finding
}

// Add starts a check. It replaces a check of the same id.
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

// HasProved reports whether the check's own probes have passed, as opposed to its initial
// status.
func (s *Scheduler) HasProved(alloc, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.allocs[alloc][id]
	return e != nil && e.proved
}

// Remove stops a check.
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

// Statuses returns the last results of an allocation's checks, by check id.
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

// Counts returns the number of checks by their last result.
func (s *Scheduler) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[string]int{}
	for _, checks := range s.allocs {
		for _, e := range checks {
			counts[e.status]++
		}
	}
	return counts
}

// Run probes until ctx ends, and waits for the probes in flight.
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

// next takes the check that is due from the queue, or returns the time until one is due.
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

// run probes one check and returns it to the queue. Nothing else changes the entry in the
// meantime.
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
		r.shortened = timeout < t.Check.Timeout && !r.ok && errors.Is(probeCtx.Err(), context.DeadlineExceeded)
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
	if !r.discard {
		changed = !late && e.judge(r, now)
		changed = !late && e.setFailure(r, now) || changed
		why = e.restartReason(r, now)
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
