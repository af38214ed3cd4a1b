// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/state"
)

// arrival has the system jobs evaluated that may run on a node which takes
// allocations from now on, or is of another class or has other host volumes than before. What waits for
// room needs no evaluation from here: its blocked one is woken.
//
// Thousands of nodes may come together. A job has one pending evaluation from
// here at a time, however many came, and passes are at least arrivalsEvery
// apart. Whether an evaluation has seen the newest node of a job is read from
// the state, so nothing is lost with a leader.
type arrival struct {
	mu      sync.Mutex
	jobs    map[api.NamespacedID]bool   // that run on every node that suits
	came    map[string]*api.Node        // by id; the value is it as it was, if it was ready then
	waiting map[api.NamespacedID]uint64 // jobs that need an evaluation of a state at least so new
	last    time.Time                   // of the last pass
}

// NewArrival returns the controller of nodes that become ready. It has one key.
func NewArrival() Controller {
	return &arrival{jobs: map[api.NamespacedID]bool{}, came: map[string]*api.Node{}, waiting: map[api.NamespacedID]uint64{}}
}

const (
	arrivalsEvery = 200 * time.Millisecond
	arrivals      = "arrivals"
)

func (*arrival) Name() string { return "arrival" }

func (c *arrival) All(snap *state.Snapshot) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.jobs)
	for job := range snap.Jobs() {
		c.noteJob(job)
	}
	for n := range snap.Nodes() {
		if n.IsReady() {
			c.came[n.ID] = nil
		}
	}
	return []string{arrivals}
}

func (c *arrival) noteJob(job *api.Job) {
	if job.Stop || job.Type != api.JobTypeSystem && job.Type != api.JobTypeSysBatch || job.IsPeriodic() || job.IsParameterized() {
		delete(c.jobs, job.Key())
		return
	}
	c.jobs[job.Key()] = true
}

func (c *arrival) Touched(change *state.Change, add func(string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch change.Table {
	case state.TableJobs:
		if job, _ := change.New.(*api.Job); job != nil {
			c.noteJob(job)
		} else if job, _ := change.Old.(*api.Job); job != nil {
			delete(c.jobs, job.Key())
		}
	case state.TableNodes:
		n, _ := change.New.(*api.Node)
		old, _ := change.Old.(*api.Node)
		if n == nil || !n.IsReady() {
			return
		}
		switch {
		case old == nil || !old.IsReady():
			c.came[n.ID] = nil
		case old.ComputedClass != n.ComputedClass, !maps.EqualFunc(old.HostVolumes, n.HostVolumes, (*api.HostVolumeInfo).Equal):
			c.came[n.ID] = old
		default:
			return
		}
		if len(c.jobs) > 0 {
			add(arrivals)
		}
	case state.TableEvaluations:
		if e, _ := change.New.(*api.Evaluation); e != nil && e.Status != api.EvalStatusPending && c.waiting[e.JobKey()] != 0 {
			add(arrivals)
		}
	}
}

func (c *arrival) Act(snap *state.Snapshot, _ string, now time.Time) ([]state.Command, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if next := c.last.Add(arrivalsEvery); now.Before(next) {
		return nil, next
	}
	c.last = now
	c.match(snap)
	var evals []*api.Evaluation
	for key, index := range c.waiting {
		job := snap.Job(key.Namespace, key.ID)
		switch pending, seen := evaluation(snap, key, index); {
		case job == nil || job.Stop || seen:
			delete(c.waiting, key)
		case !pending:
			evals = append(evals, newEvaluation(job, api.TriggerNodeUpdate, now))
		}
	}
	if len(evals) == 0 {
		return nil, time.Time{}
	}
	slices.SortFunc(evals, func(a, b *api.Evaluation) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.JobID, b.JobID))
	})
	return []state.Command{&state.PutEvaluations{Evaluations: evals}}, time.Time{}
}

// match finds out for which jobs the nodes that came matter.
func (c *arrival) match(snap *state.Snapshot) {
	nodes := make([]*api.Node, 0, len(c.came))
	for id := range c.came {
		if n := snap.Node(id); n != nil && n.IsReady() {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b *api.Node) int { return cmp.Compare(b.ModifyIndex, a.ModifyIndex) })
	for key := range c.jobs {
		job := snap.Job(key.Namespace, key.ID)
		if job == nil || len(nodes) == 0 {
			continue
		}
		if index := newest(job, nodes, c.came); index > c.waiting[key] {
			c.waiting[key] = index
		}
	}
	clear(c.came)
}

// newest is the index of the newest node, of those sorted by it, that the job
// may run on, or might before; 0 when there is none.
func newest(job *api.Job, nodes []*api.Node, before map[string]*api.Node) (index uint64) {
	for _, g := range job.Groups {
		suits := placement.NewSuitability(job, g)
		for _, n := range nodes {
			if n.ModifyIndex <= index {
				break
			}
			_, now := suits.Of(n)
			if old := before[n.ID]; !now && old != nil {
				_, now = suits.Of(old)
			}
			if now {
				index = n.ModifyIndex
				break
			}
		}
	}
	return index
}

// evaluation reports whether the job has a pending evaluation, and whether it
// was evaluated on a state at least as new as the index.
func evaluation(snap *state.Snapshot, id api.NamespacedID, index uint64) (pending, seen bool) {
	for e := range snap.EvaluationsByJob(id.Namespace, id.ID) {
		switch {
		case e.SnapshotIndex >= index:
			seen = true
		case e.Status == api.EvalStatusPending && e.WaitUntil.IsZero():
			pending = true
		}
	}
	return pending, seen
}
