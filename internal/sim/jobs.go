// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Dimensions of resources.
const (
	cpu = iota
	memory
	disk
	dimensions
)

var dimensionNames = [dimensions]string{"cpu", "memory", "disk"}

func amounts(u api.Usage) [dimensions]int64 { return [dimensions]int64{u.CPU, u.MemoryMB, u.DiskMB} }

// A job is one copy of a scenario's job.
type job struct {
	spec      *api.Job
	file      string // job file of the scenario that it is a copy of
	at        time.Duration
	groups    map[string]*group
	submitted atomic.Int64 // Unix nanoseconds
	foreign   bool         // reports whether another client registered it

	mu      sync.Mutex
	arrived map[string][]uint64 // by group: a bit for each instance that a node has received
}

// arrives notes that a node receives an instance, and reports whether it is the first that does. An instance whose
// first node is lost before it hears of the instance arrives as a replacement.
func (j *job) arrives(g *group, index int32) (first bool) {
	if index < 0 {
		return false // its name has no index
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.arrived == nil {
		j.arrived = map[string][]uint64{}
	}
	word, bit := int(index)/64, uint64(1)<<(index%64)
	bits := j.arrived[g.spec.Name]
	if more := max(word+1, (g.wanted+63)/64) - len(bits); more > 0 {
		bits = append(bits, make([]uint64, more)...)
		j.arrived[g.spec.Name] = bits
	}
	first = bits[word]&bit == 0
	bits[word] |= bit
	return first
}

func (j *job) submittedAt() time.Time { return time.Unix(0, j.submitted.Load()) }

// A group is one group of a job. Copies of a job share it.
type group struct {
	spec      *api.Group
	behaviour *behaviour
	spreads   []*api.Spread // including the job's
	ask       [dimensions]int64
	wanted    int // instances per copy; 0 for system jobs, whose number depends on the nodes
}

// prepareJobs creates the copies.
func (r *run) prepareJobs() error {
	for i := range r.scenario.Jobs {
		g := &r.scenario.Jobs[i]
		spec := g.job
		if g.Count != nil {
			spec = withCount(spec, *g.Count)
		}
		groups, err := r.groupsOf(spec)
		if err != nil {
			return fmt.Errorf("%s: %w", g.File, err)
		}
		for copy := range g.Copies {
			j := &job{spec: spec.Copy(), file: g.File, groups: groups, at: g.At + g.Over*time.Duration(copy)/time.Duration(g.Copies)}
			if g.Copies > 1 {
				j.spec.ID = fmt.Sprintf("%s-%d", spec.ID, copy+1)
				j.spec.Name = j.spec.ID
			}
			if r.jobs[j.spec.ID] != nil {
				return api.Errorf(api.CodeInvalid, "%s: a job %q is in the scenario already: give one another name, or copies", g.File, j.spec.ID)
			}
			r.jobs[j.spec.ID] = j
			r.order = append(r.order, j)
		}
	}
	slices.SortStableFunc(r.order, func(a, b *job) int { return cmp.Compare(a.at, b.at) })
	return nil
}

func (r *run) groupsOf(spec *api.Job) (map[string]*group, error) {
	groups := map[string]*group{}
	for _, s := range spec.Groups {
		b, err := newBehaviour(spec, s, &r.scenario.Tasks)
		if err != nil {
			return nil, err
		}
		one := &group{spec: s, behaviour: b, ask: amounts(s.Usage()), spreads: append(slices.Clone(s.Spreads), spec.Spreads...)}
		if spec.Type == api.JobTypeService || spec.Type == api.JobTypeBatch {
			one.wanted = s.Size()
		}
		groups[s.Name] = one
	}
	return groups, nil
}

func withCount(spec *api.Job, count int) *api.Job {
	c := spec.Copy()
	c.Groups = nil
	for _, g := range spec.Groups {
		other := *g
		other.Count = &count
		c.Groups = append(c.Groups, &other)
	}
	return c
}

// wanted returns the number of instances of all jobs with a count.
func (r *run) wanted() int64 {
	var n int64
	for _, j := range r.order {
		for _, g := range j.groups {
			n += int64(g.wanted)
		}
	}
	return n
}

// submit registers the jobs at their times.
func (r *run) submit(ctx context.Context) error {
	var next atomic.Int64
	var clients sync.WaitGroup
	errs := make([]error, submitting)
	began := time.Now()
	for worker := range submitting {
		clients.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(r.order) || !until(ctx, r.began.Add(r.order[i].at)) {
					return
				}
				j := r.order[i]
				j.submitted.Store(time.Now().UnixNano())
				if _, err := r.client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: j.spec}); err != nil {
					if ctx.Err() == nil {
						errs[worker] = fmt.Errorf("register job %s: %w", j.spec.ID, err)
					}
					return
				}
			}
		})
	}
	clients.Wait()
	r.report.Jobs.Took = time.Since(began)
	return errors.Join(errs...)
}

// until waits until a time. It returns false if ctx ended first.
func until(ctx context.Context, at time.Time) bool {
	wait := time.Until(at)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

// meet adds jobs that a node receives. Jobs outside of the scenario run as their specs say, and
// the run does not wait for them.
func (r *run) meet(specs []*api.Job, now time.Time) {
	for _, spec := range specs {
		if r.jobs[spec.ID] != nil {
			continue
		}
		groups, err := r.groupsOf(spec)
		if err != nil {
			r.tell("job %s is not simulated: %v", spec.ID, err)
			continue
		}
		j := &job{spec: spec, groups: groups, foreign: true}
		j.submitted.Store(now.UnixNano())
		r.mu.Lock()
		if r.foreign == nil {
			r.foreign = map[string]*job{}
		}
		r.foreign[spec.ID] = j
		r.mu.Unlock()
	}
}

// instance returns an allocation of a known job; nil for other allocations.
func (r *run) instance(a *api.Allocation) *instance {
	j := r.jobs[a.JobID]
	if j == nil {
		r.mu.Lock()
		j = r.foreign[a.JobID]
		r.mu.Unlock()
	}
	if j == nil || j.groups[a.Group] == nil {
		return nil
	}
	g := j.groups[a.Group]
	ask := &g.ask
	if asked := amounts(a.Usage()); asked != g.ask {
		ask = &asked
	}
	return &instance{id: strings.Clone(a.ID), index: int32(a.Index()), job: j, group: g, ask: ask}
}
