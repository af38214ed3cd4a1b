// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package joblogs

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// pause is the minimum time between two looks at the job's allocations.
const pause = 250 * time.Millisecond

// A Job is what a stream reads.
type Job struct {
	// Allocations returns the job's allocations, and the index of the state that has them.
	Allocations func() ([]*api.Allocation, uint64)
	// Changed waits until allocations have changed after an index.
	Changed func(ctx context.Context, after uint64) error
	Open    Open
}

// Stream sends the output that the query selects until it ends or, with Follow, until ctx ends or a send
// fails. Then also the output of allocations that start meanwhile is sent. Calls of send do not overlap.
func Stream(ctx context.Context, j Job, q *Query, send func(*api.JobLogFrame) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m := &merger{job: j, q: q, out: send, cancel: cancel, reading: map[string]int{}}
	list, index := j.Allocations()
	chosen, left := q.Choose(list)
	if left > 0 {
		if err := m.send(&api.JobLogFrame{LeftOut: left}); err != nil {
			return err
		}
	}
	for _, a := range chosen {
		m.begin(ctx, a)
	}
	for q.Follow && sleep(ctx, pause) == nil && j.Changed(ctx, index) == nil {
		list, index = j.Allocations()
		chosen, _ := q.Choose(list)
		for _, a := range chosen {
			if !a.IsClientTerminal() && m.admits(a.ID) {
				m.begin(ctx, a)
			}
		}
	}
	m.all.Wait()
	return context.Cause(ctx)
}

// A merger reads several sources at the same time.
type merger struct {
	job    Job
	q      *Query
	cancel context.CancelCauseFunc
	all    sync.WaitGroup

	sending sync.Mutex
	out     func(*api.JobLogFrame) error

	mu      sync.Mutex
	reading map[string]int // sources that are read, by allocation; 0: they have ended
}

func (m *merger) send(f *api.JobLogFrame) error {
	m.sending.Lock()
	defer m.sending.Unlock()
	return m.out(f)
}

// admits reports whether the output of an allocation was not read yet, and is not one too many.
func (m *merger) admits(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := 0
	for _, sources := range m.reading {
		if sources > 0 {
			open++
		}
	}
	_, known := m.reading[id]
	return !known && open < MaxAllocations
}

func (m *merger) begin(ctx context.Context, a *api.Allocation) {
	sources := m.q.SourcesOf(a)
	m.mu.Lock()
	m.reading[a.ID] = len(sources)
	m.mu.Unlock()
	for _, from := range sources {
		m.all.Go(func() {
			s := &source{Source: from, q: m.q, open: m.job.Open, running: m.isRunning, send: m.send}
			if err := s.run(ctx); err != nil {
				m.cancel(err)
			}
			m.mu.Lock()
			m.reading[a.ID]--
			m.mu.Unlock()
		})
	}
}

func (m *merger) isRunning(id string) bool {
	list, _ := m.job.Allocations()
	for _, a := range list {
		if a.ID == id {
			return !a.IsClientTerminal()
		}
	}
	return false
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
