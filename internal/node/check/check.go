// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package check asks running instances whether they are well: by HTTP, by
// opening a TCP connection, or by running a command in the task.
//
// One Scheduler serves a whole node. Checks that wait cost an entry in a heap,
// not a goroutine; a goroutine exists only while a probe is under way. The
// package decides what a check's status is and when it is bad enough to restart
// a task; what then happens is the runner's business.
package check

import (
	"container/heap"
	"context"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Target is one check of one allocation.
type Target struct {
	ID      string
	Check   *api.Check // interpolated
	Service string
	Group   string
	Task    string
	Address string // host:port, for http and tcp
	Passing bool   // it is taken for passing until it is found otherwise
	// Exec runs a script check's command in its task. It may write to out from
	// several goroutines.
	Exec func(ctx context.Context, argv []string, out io.Writer) (int, error)
	// Changed is called when the status changed; without locks held.
	Changed func(id, status string)
	// Restart is called when the check failed as often as check_restart allows.
	Restart func(reason string)
}

// fastest are the waits before the first probes of a check that has not passed
// yet; the last one repeats until it passes, and from then on its interval
// counts.
var fastest = []time.Duration{
	0, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
}

// A Scheduler probes all checks of a node when they are due.
type Scheduler struct {
	probe func(ctx context.Context, t *Target) result
	slots chan struct{} // one per probe under way

	mu     sync.Mutex
	queue  queue
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
	}
}

// An entry is a check and what is known of it.
type entry struct {
	target  *Target
	random  *rand.Rand
	added   time.Time
	due     time.Time
	at      int // place in the queue; -1 while it is probed or removed
	removed bool

	status     string
	passed     bool // ever
	tries      int
	successes  int // in a row
	failures   int // in a row
	strikes    int // failures in a row that check_restart counts
	struckAt   time.Time
	output     string
	statusCode int
	stamp      int64
}

// Add starts checking. A check of the same id is replaced.
func (s *Scheduler) Add(alloc string, t *Target) {
	now := time.Now()
	h := fnv.New64a()
	io.WriteString(h, alloc+"/"+t.ID)
	e := &entry{target: t, added: now, due: now.Add(fastest[0]), at: -1, status: api.CheckStatusPending,
		random: rand.New(rand.NewPCG(h.Sum64(), 1))}
	if t.Passing {
		e.status, e.passed = api.CheckStatusSuccess, true
	}
	s.mu.Lock()
	if s.allocs[alloc] == nil {
		s.allocs[alloc] = map[string]*entry{}
	}
	if old := s.allocs[alloc][t.ID]; old != nil {
		s.drop(old)
	}
	s.allocs[alloc][t.ID] = e
	heap.Push(&s.queue, e)
	s.mu.Unlock()
	s.nudge()
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
	if e.at >= 0 {
		heap.Remove(&s.queue, e.at)
	}
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
			Task: t.Task, Status: e.status, StatusCode: e.statusCode, Timestamp: e.stamp,
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
	if len(s.queue) == 0 {
		return nil, time.Hour
	}
	if wait := s.queue[0].due.Sub(now); wait > 0 {
		return nil, wait
	}
	return heap.Pop(&s.queue).(*entry), 0
}

func (s *Scheduler) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run probes one check, and puts it back into the queue.
func (s *Scheduler) run(ctx context.Context, e *entry) {
	probeCtx, cancel := context.WithTimeout(ctx, e.target.Check.Timeout)
	r := s.probe(probeCtx, e.target)
	cancel()
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	s.mu.Lock()
	if e.removed {
		s.mu.Unlock()
		return
	}
	changed := e.judge(r, now)
	restart := e.strike(r, now)
	e.due = now.Add(e.pause())
	heap.Push(&s.queue, e)
	status := e.status
	s.mu.Unlock()
	s.nudge()
	if changed && e.target.Changed != nil {
		e.target.Changed(e.target.ID, status)
	}
	if restart && e.target.Restart != nil {
		e.target.Restart(r.output)
	}
}
