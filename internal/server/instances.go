// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// Instances returns a job's current instances and their index. For a job that is not
// registered, they are its running orphans.
func (s *Server) Instances(_ context.Context, ns, id string) ([]*api.Instance, uint64, error) {
	snap := s.store.Snapshot()
	all, err := instancesOf(snap, ns, id)
	return all, snap.TableIndex(planTables...), err
}

func instancesOf(snap *state.Snapshot, ns, id string) ([]*api.Instance, error) {
	job, err := jobOf(snap, ns, id)
	key := api.NamespacedID{Namespace: cmp.Or(ns, api.DefaultNamespace), ID: id}
	all := view.Instances(snap, key, job, time.Now())
	if job == nil && len(all) == 0 {
		return nil, err
	}
	return all, nil
}

// An InstanceFilter selects instances. Empty fields match all.
type InstanceFilter struct {
	Namespace string // "*": all
	Job       string
	Node      string                      // id
	Domain    *string                     // of the job
	From      *api.NamespacedID           // job to begin with, or the next one in order; nil: the first
	Reverse   bool                        // the last job comes first
	May       func(namespace string) bool // reports whether a namespace may be shown; nil: all
}

// AllInstances returns the current instances of all jobs, by namespace and job, and their
// index.
func (s *Server) AllInstances(_ context.Context, f InstanceFilter) ([]*api.Instance, uint64, error) {
	snap, now := s.store.Snapshot(), time.Now()
	asked := f.jobs(snap)
	// Each processor derives those of some jobs that follow each other.
	parts := make([][]*api.Instance, 0, runtime.GOMAXPROCS(0))
	var derived sync.WaitGroup
	for some := range slices.Chunk(asked, max(len(asked)/cap(parts)+1, fewJobs)) {
		parts = append(parts, nil)
		part := &parts[len(parts)-1]
		derived.Go(func() {
			for _, j := range some {
				*part = append(*part, f.only(view.Instances(snap, j.key, j.job, now))...)
			}
		})
	}
	derived.Wait()
	return slices.Concat(parts...), snap.TableIndex(planTables...), nil
}

// InstancesByJob is AllInstances for readers that may stop early: it yields the instances of
// one job after another, and derives them on demand.
func (s *Server) InstancesByJob(f InstanceFilter) (iter.Seq[[]*api.Instance], uint64) {
	snap, now := s.store.Snapshot(), time.Now()
	return func(yield func([]*api.Instance) bool) {
		for _, j := range f.jobs(snap) {
			if !yield(f.only(view.Instances(snap, j.key, j.job, now))) {
				return
			}
		}
	}, snap.TableIndex(planTables...)
}

// jobs are those of which instances may be asked for, by namespace and id.
func (f *InstanceFilter) jobs(snap *state.Snapshot) (asked []knownJob) {
	add := func(key api.NamespacedID, job *api.Job) {
		if (f.Job == "" || key.ID == f.Job) && (f.Domain == nil || job == nil || job.Domain == *f.Domain) && f.includes(key) {
			asked = append(asked, knownJob{key, job})
		}
	}
	switch {
	case f.Job != "" && f.Namespace != "*":
		// What is not known has no instances.
		add(api.NamespacedID{Namespace: f.Namespace, ID: f.Job}, snap.Job(f.Namespace, f.Job))
	case f.Node == "":
		for key, job := range snap.JobsKnown(f.Namespace) {
			add(key, job)
		}
	default:
		for key := range jobsOn(snap, f.Node, f.Namespace) {
			add(key, snap.Job(key.Namespace, key.ID))
		}
		slices.SortFunc(asked, func(a, b knownJob) int { return compareJobs(a.key, b.key) })
	}
	if f.Reverse {
		slices.Reverse(asked)
	}
	return asked
}

// includes reports whether a job may be shown, and is not before From.
func (f *InstanceFilter) includes(key api.NamespacedID) bool {
	if f.May != nil && !f.May(key.Namespace) {
		return false
	}
	switch {
	case f.From == nil:
		return true
	case f.Reverse:
		return compareJobs(key, *f.From) <= 0
	}
	return compareJobs(key, *f.From) >= 0
}

func compareJobs(a, b api.NamespacedID) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.ID, b.ID))
}

// A knownJob is one that is stored, or of which something runs (nil).
type knownJob struct {
	key api.NamespacedID
	job *api.Job
}

func jobsOn(snap *state.Snapshot, node, ns string) map[api.NamespacedID]bool {
	keys := map[api.NamespacedID]bool{}
	for a := range snap.AllocationsByNode(node) {
		if ns == "*" || a.Namespace == ns {
			keys[a.JobKey()] = true
		}
	}
	return keys
}

// only keeps those instances that are asked for.
func (f *InstanceFilter) only(all []*api.Instance) []*api.Instance {
	if f.Node == "" && f.Domain == nil {
		return all
	}
	return slices.DeleteFunc(all, func(in *api.Instance) bool {
		return f.Node != "" && in.NodeID != f.Node || f.Domain != nil && in.Domain != *f.Domain
	})
}

// KillInstance stops the allocation of an instance. Another allocation replaces it
// immediately; an instance that waits for its next attempt is retried now.
func (s *Server) KillInstance(ctx context.Context, ns, id, name string, noShutdownDelay bool) (*api.KillInstanceResponse, error) {
	snap := s.store.Snapshot()
	all, err := instancesOf(snap, ns, id)
	if err != nil {
		return nil, err
	}
	in, err := instanceNamed(all, id, name)
	if err != nil {
		return nil, err
	}
	job := snap.Job(in.Namespace, in.JobID)
	a := snap.Allocation(in.Allocation)
	if job == nil {
		job = a.Job
	}
	now, yes := time.Now(), true
	eval := newEvaluation(job, api.TriggerAllocStop, now)
	var cmd state.Command = &state.PutEvaluations{Evaluations: []*api.Evaluation{eval}}
	if a != nil {
		t := api.DesiredTransition{Migrate: &yes}
		if a.ClientStatus == api.AllocClientFailed {
			t = api.DesiredTransition{ForceReschedule: &yes}
		}
		if noShutdownDelay {
			t.NoShutdownDelay = &yes
		}
		cmd = &state.SetTransition{AllocationIDs: []string{a.ID}, Transition: t, Evaluations: []*api.Evaluation{eval}}
	}
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return &api.KillInstanceResponse{Killed: in, EvalID: eval.ID, Index: index}, nil
}

// instanceNamed finds the instance that a name means, or says which there are.
func instanceNamed(all []*api.Instance, job, name string) (*api.Instance, error) {
	if found := api.FindInstances(all, name); len(found) > 0 {
		return found[0], nil
	}
	var names []string
	for _, in := range all {
		if len(names) == instancesTold {
			names = append(names, "...")
			break
		}
		if !slices.Contains(names, in.Name) {
			names = append(names, in.Name)
		}
	}
	return nil, api.Errorf(api.CodeNotFound, "job %q has no instance %q; it has %s", job, name, cmp.Or(strings.Join(names, ", "), "none"))
}

// instancesTold is how many names an unknown one is answered with.
const instancesTold = 10

// InstanceVerb restarts, replaces, pauses or resumes an instance of a job.
func (s *Server) InstanceVerb(ctx context.Context, ns, id, name string, verb api.Verb, req *api.InstanceRequest) (*api.InstanceResponse, error) {
	if req == nil {
		req = &api.InstanceRequest{}
	}
	cmd, index, err := s.decide(ctx, ns, id, func(snap *state.Snapshot, job *api.Job, now time.Time) (*state.Decide, error) {
		d, err := operator.DecideInstance(snap, job, name, verb, req, now)
		if err != nil {
			return nil, err
		}
		return &state.Decide{Decision: d}, nil
	})
	if err != nil {
		return nil, err
	}
	d := s.stored(cmd.Decision)
	res := &api.InstanceResponse{Instance: name, Tasks: d.Tasks, Decision: d, Index: index}
	if job := s.store.Snapshot().Job(d.Namespace, d.JobID); len(res.Tasks) == 0 && job != nil {
		if g := job.Group(d.Group); g != nil {
			for _, t := range g.Tasks {
				res.Tasks = append(res.Tasks, t.Name)
			}
		}
	}
	if cmd.Evaluation != nil {
		res.EvalID = cmd.Evaluation.ID
	}
	return res, nil
}
