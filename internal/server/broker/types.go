// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/heap"
)

// jobTypes are the types of jobs. Workers may process evaluations of some of them only.
var jobTypes = [...]string{api.JobTypeService, api.JobTypeBatch, api.JobTypeSystem, api.JobTypeSysBatch}

// Types is a set of job types.
type Types uint8

// AllTypes contains every type of job.
const AllTypes Types = 1<<len(jobTypes) - 1

// NoTypes is the set of a server without workers.
const NoTypes Types = 1 << 7

// TypesOf returns the set of the named types. Unknown names are ignored.
func TypesOf(names ...string) (t Types) {
	for _, name := range names {
		if i := slices.Index(jobTypes[:], name); i >= 0 {
			t |= 1 << i
		}
	}
	return t
}

// readyJobs holds the jobs with evaluations to deliver, by type and by the servers whose workers
// may take them. An unknown type counts as the first one.
type readyJobs struct {
	heaps [2 * len(jobTypes)]heap.Indexed[*jobQueue] // for all servers, then for this one
}

func newReadyJobs() (r readyJobs) {
	for i := range r.heaps {
		r.heaps[i] = heap.NewIndexed(moreUrgent, func(j *jobQueue) *int { return &j.slot })
	}
	return r
}

// put adds a job, or moves it after a change.
func (r *readyJobs) put(j *jobQueue) {
	kind := max(slices.Index(jobTypes[:], j.jobType()), 0)
	if j.here {
		kind += len(jobTypes)
	}
	if kind != j.kind {
		r.remove(j)
		j.kind = kind
	}
	r.heaps[kind].Put(j)
}

func (r *readyJobs) remove(j *jobQueue) { r.heaps[j.kind].Remove(j) }

// of calls f with the heaps of the types. here adds the jobs that only this server may take.
func (r *readyJobs) of(types Types, here bool, f func(*heap.Indexed[*jobQueue])) {
	for i := range r.heaps {
		if types&(1<<(i%len(jobTypes))) != 0 && (here || i < len(jobTypes)) {
			f(&r.heaps[i])
		}
	}
}

// first returns the most urgent job of the types.
func (r *readyJobs) first(types Types, here bool) (first *jobQueue) {
	r.of(types, here, func(h *heap.Indexed[*jobQueue]) {
		if j, ok := h.First(); ok && (first == nil || moreUrgent(j, first)) {
			first = j
		}
	})
	return first
}

// count returns the number of jobs of the types.
func (r *readyJobs) count(types Types, here bool) (n int) {
	r.of(types, here, func(h *heap.Indexed[*jobQueue]) { n += h.Len() })
	return n
}
