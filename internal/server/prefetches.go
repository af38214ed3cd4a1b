// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/prefetch"
	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"
)

// prefetchPause is the shortest time between two derivations: a rollout of many instances changes its job all the time.
const prefetchPause = 500 * time.Millisecond

// prefetchAgain is the time after which the jobs with prefetches are derived again without a change. Steps of jobs without
// deployments end by reports of nodes only, which are not followed.
const prefetchAgain = 30 * time.Second

// prefetches knows which images the nodes pull ahead. It derives them from the plans of the jobs that change, and tells
// the streams of the nodes whose list changed.
type prefetches struct {
	changed chan struct{}

	mu     sync.Mutex
	jobs   map[api.NamespacedID]bool // to derive again
	all    bool                      // every job is to be derived again
	byNode map[string]map[api.NamespacedID][]*prefetched
}

// A prefetched is a prefetch in the form for streams.
type prefetched struct {
	prefetch *api.Prefetch
	text     []byte // its JSON, by which lists are compared
	job      *api.Job
}

func newPrefetches() *prefetches {
	return &prefetches{changed: make(chan struct{}, 1), jobs: map[api.NamespacedID]bool{}, byNode: map[string]map[api.NamespacedID][]*prefetched{}}
}

// follow notes the jobs that change, until ctx ends.
func (p *prefetches) follow(ctx context.Context, store *state.Store) {
	_ = feed.Follow(ctx, store, func(*state.Snapshot) {
		p.mu.Lock()
		p.all = true
		p.mu.Unlock()
		p.wake()
	}, p.apply)
}

func (p *prefetches) wake() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// apply notes the jobs with images that a batch of changes concerns.
func (p *prefetches) apply(b *state.Batch) {
	var last *api.Job // most changes of a batch concern the same job
	for i := range b.Changes {
		object := b.Changes[i].New
		if object == nil {
			object = b.Changes[i].Old
		}
		switch o := object.(type) {
		case *api.Allocation:
			if o.AllocModifyIndex == b.Index && o.Job != nil && o.Job != last && prefetch.Concerns(o.Job) {
				p.note(o.JobKey())
			}
			last = o.Job
		case *api.Job:
			if prefetch.Concerns(o) {
				p.note(o.Key())
			}
		case *api.ImagePin:
			p.note(api.NamespacedID{Namespace: o.Namespace, ID: o.JobID})
		case *api.Deployment:
			if old, _ := b.Changes[i].Old.(*api.Deployment); old == nil || old.Status != o.Status {
				p.note(api.NamespacedID{Namespace: o.Namespace, ID: o.JobID})
			}
		}
	}
}

func (p *prefetches) note(job api.NamespacedID) {
	p.mu.Lock()
	p.jobs[job] = true
	p.mu.Unlock()
	p.wake()
}

// run derives the prefetches of jobs that changed, until ctx ends.
func (p *prefetches) run(ctx context.Context, store *state.Store, tell func(node string)) {
	for {
		var again <-chan time.Time
		if p.isBusy() {
			again = time.After(prefetchAgain)
		}
		select {
		case <-p.changed:
		case <-again:
			p.noteKnown()
		case <-ctx.Done():
			return
		}
		for _, node := range p.derive(store.Snapshot(), time.Now()) {
			tell(node)
		}
		select {
		case <-time.After(prefetchPause):
		case <-ctx.Done():
			return
		}
	}
}

func (p *prefetches) isBusy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.byNode) > 0
}

// noteKnown notes the jobs that have prefetches.
func (p *prefetches) noteKnown() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addKnown()
}

// addKnown is noteKnown for holders of the mutex.
func (p *prefetches) addKnown() {
	for _, jobs := range p.byNode {
		for key := range jobs {
			p.jobs[key] = true
		}
	}
}

// derive brings the lists up to date, and returns the nodes whose list changed.
func (p *prefetches) derive(snap *state.Snapshot, now time.Time) []string {
	p.mu.Lock()
	keys := p.jobs
	if p.all {
		p.addKnown()
		for job := range snap.JobsPrefix("*", "") {
			if prefetch.Concerns(job) {
				keys[job.Key()] = true
			}
		}
	}
	p.jobs, p.all = map[api.NamespacedID]bool{}, false
	p.mu.Unlock()
	changed := map[string]bool{}
	for key := range keys {
		job := snap.Job(key.Namespace, key.ID)
		p.replace(key, byNode(job, prefetch.Derive(snap, job, now)), changed)
	}
	return slices.Sorted(maps.Keys(changed))
}

// byNode makes the streams' form of a job's prefetches.
func byNode(job *api.Job, nodes map[string][]*api.Prefetch) map[string][]*prefetched {
	made := map[*api.Prefetch]*prefetched{}
	lists := make(map[string][]*prefetched, len(nodes))
	for node, list := range nodes {
		for _, f := range list {
			if made[f] == nil {
				text, err := json.Marshal(f)
				if err != nil {
					continue
				}
				made[f] = &prefetched{f, text, job}
			}
			lists[node] = append(lists[node], made[f])
		}
	}
	return lists
}

// replace replaces the prefetches of a job, and marks the nodes whose list changed.
func (p *prefetches) replace(key api.NamespacedID, lists map[string][]*prefetched, changed map[string]bool) {
	same := func(a, b *prefetched) bool { return string(a.text) == string(b.text) }
	p.mu.Lock()
	defer p.mu.Unlock()
	for node, jobs := range p.byNode {
		if len(lists[node]) == 0 && len(jobs[key]) > 0 {
			if delete(jobs, key); len(jobs) == 0 {
				delete(p.byNode, node)
			}
			changed[node] = true
		}
	}
	for node, list := range lists {
		if slices.EqualFunc(p.byNode[node][key], list, same) {
			continue
		}
		if p.byNode[node] == nil {
			p.byNode[node] = map[api.NamespacedID][]*prefetched{}
		}
		p.byNode[node][key] = list
		changed[node] = true
	}
}

// of returns the prefetches of a node, in the order of their jobs.
func (p *prefetches) of(node string) (all []*prefetched) {
	p.mu.Lock()
	defer p.mu.Unlock()
	jobs := p.byNode[node]
	for _, key := range slices.SortedFunc(maps.Keys(jobs), compareKeys) {
		all = append(all, jobs[key]...)
	}
	return all
}

func compareKeys(a, b api.NamespacedID) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}
