// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"sync"
	"sync/atomic"

	"github.com/reeve-run/reeve/api"
)

// A Store holds the state. Any goroutine may call its methods.
type Store struct {
	mu        sync.Mutex // held by the one writer
	work      content    // content that the writer changes
	gen       uint64     // generation of the writer; see pages
	published atomic.Pointer[Snapshot]
	waiters   waiters
	feed      feed
}

// content holds all tables and other replicated state.
type content struct {
	index       uint64
	ahead       uint64 // excess of index over the log's, after a restore from a longer log
	indexes     [maxTables]uint64
	jobs        table[*jobRow]
	allocations table[allocationRow]
	evaluations table[evaluationRow]
	deployments table[deploymentRow]
	nodes       table[nodeRow]
	decisions   table[decisionRow]
	restarts    table[restartRow]
	callbacks   table[callbackRow]
	tokens      ids // slots of dispatched jobs by idempotency token
	scaled      ids // slots of the jobs with scaling policies
	cluster     cluster
	orphans     int                 // number of orphans
	limited     int                 // number of namespaces that name a quota
	jobUsage    table[api.QuotaUse] // by job and node pool, of jobs that quotas limit
	quotaUsage  table[api.QuotaUse] // by quota and node pool
	nouns       []rows              // by table; shared in snapshots
	beginnings  *beginnings         // only the writer uses it
}

func newContent() content {
	c := content{
		jobs:        newTable[*jobRow](),
		allocations: newTable[allocationRow](),
		evaluations: newTable[evaluationRow](),
		deployments: newTable[deploymentRow](),
		nodes:       newTable[nodeRow](),
		decisions:   newTable[decisionRow](),
		restarts:    newTable[restartRow](),
		callbacks:   newTable[callbackRow](),
		tokens:      newIDs(),
		scaled:      newIDs(),
		jobUsage:    newTable[api.QuotaUse](),
		quotaUsage:  newTable[api.QuotaUse](),
		beginnings:  new(beginnings),
		cluster:     cluster{scheduler: api.DefaultSchedulerConfig()},
	}
	for _, n := range nouns {
		c.nouns = append(c.nouns, n.empty())
	}
	return c
}

// New returns an empty store.
func New() *Store {
	s := &Store{work: newContent(), gen: 1}
	s.feed.init()
	empty := newContent()
	s.published.Store(&Snapshot{content: empty})
	return s
}

// Apply applies the log entry of that index. It returns one result per command: nil, or the *api.Error
// that rejects the command. A rejected command changes nothing. Entries must arrive in
// index order. Apply skips entries that it has applied before.
func (s *Store) Apply(entry uint64, commands []Command) []error {
	_, errs := s.ApplyEntry(entry, commands)
	return errs
}

// ApplyEntry is Apply, and also returns the index of the state after the entry. It differs
// from the entry's index after a restore of a snapshot from a longer log.
func (s *Store) ApplyEntry(entry uint64, commands []Command) (uint64, []error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := make([]error, len(commands))
	index := entry + s.work.ahead
	if index <= s.work.index {
		return index, errs
	}
	t := &txn{content: &s.work, gen: s.gen, index: index, changes: make([]Change, 0, expected(commands))}
	for i, c := range commands {
		t.cause, t.now = c.Name(), max(t.now, entryTime(c))
		errs[i] = c.apply(t)
	}
	t.settle()
	s.work.index = t.index
	if t.replaced {
		s.gen = t.gen
		s.publish()
		s.feed.reset(t.index)
		s.waiters.wake(t.index, 1<<tableCount()-1)
		return t.index, errs
	}
	s.publish()
	s.feed.publish(&Batch{Index: index, Changes: t.changes}, s.work.historyBytes())
	s.waiters.wake(index, t.touched)
	return index, errs
}

// expected estimates the number of changes that the commands make.
func expected(commands []Command) (n int) {
	for _, c := range commands {
		switch c := c.(type) {
		case *CommitPlacement:
			if c.Placement != nil {
				n += len(c.Placement.Place) + len(c.Placement.Stop) + len(c.Placement.Evaluations) + 1
			}
		case *UpdateAllocations:
			n += len(c.Allocations) + len(c.Evaluations)
		default:
			n += 2
		}
	}
	return n
}

// publish makes the writer's content visible to readers.
func (s *Store) publish() {
	last := s.published.Load()
	w := &s.work
	s.published.Store(&Snapshot{content: content{
		index:       w.index,
		ahead:       w.ahead,
		indexes:     w.indexes,
		jobs:        w.jobs.published(&last.jobs),
		allocations: w.allocations.published(&last.allocations),
		evaluations: w.evaluations.published(&last.evaluations),
		deployments: w.deployments.published(&last.deployments),
		nodes:       w.nodes.published(&last.nodes),
		decisions:   w.decisions.published(&last.decisions),
		restarts:    w.restarts.published(&last.restarts),
		callbacks:   w.callbacks.published(&last.callbacks),
		tokens:      w.tokens.published(last.tokens),
		scaled:      w.scaled.published(last.scaled),
		cluster:     w.cluster,
		orphans:     w.orphans,
		limited:     w.limited,
		jobUsage:    w.jobUsage.published(&last.jobUsage),
		quotaUsage:  w.quotaUsage.published(&last.quotaUsage),
		nouns:       publishNouns(w.nouns, last.nouns),
	}})
	s.gen++
}

// Snapshot returns the state after the last applied entry. It costs one atomic load and
// never changes.
func (s *Store) Snapshot() *Snapshot { return s.published.Load() }

// Index returns the index of the last applied entry.
func (s *Store) Index() uint64 { return s.published.Load().index }

// LogIndex returns the index in the log of the last applied entry.
func (s *Store) LogIndex() uint64 {
	v := s.published.Load()
	return v.index - v.ahead
}
