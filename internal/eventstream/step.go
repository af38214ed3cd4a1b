// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"reflect"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Events of steps.
//
// A plan is derived from tables of which the history has only changes, so the steps before
// and after an entry cannot be derived from the entry alone, as instances are. A stream
// therefore compares the current steps of a job with those that it sent last. It does so only for
// jobs that a change concerns, and for all changes of an interval at once. A reader that
// resumes gets all steps of the jobs that changed meanwhile.

// A StepSource returns the current plans, phases and steps of a job; none if the job does not
// exist.
type StepSource func(*state.Snapshot, api.NamespacedID) []*api.StepState

// jobSteps are the steps of a job at one index. Events are made only of those that are sent.
type jobSteps struct {
	index  uint64 // of the snapshot
	states []*api.StepState
}

// all returns events with all steps.
func (now *jobSteps) all() []*event {
	events := make([]*event, len(now.states))
	for i, s := range now.states {
		events[i] = now.event(s, api.TopicStep+api.EventTypeSnapshot)
	}
	return events
}

func (now *jobSteps) event(s *api.StepState, kind string) *event {
	return &event{Event: &api.Event{
		Topic: api.TopicStep, Type: kind, Key: s.Key(), Namespace: s.Namespace, Index: now.index,
		FilterKeys: stepKeys(s), Deleted: kind == api.EventTypeStepRemoved,
		Payload: map[string]any{api.TopicStep: s},
	}}
}

// changesFrom returns the events that lead to the steps from those that the reader has.
func (now *jobSteps) changesFrom(old *jobSteps) (events []*event) {
	if old == now {
		return nil
	}
	// As long as both lists have the same steps in the same order, no table of keys is needed.
	same := 0
	for same < min(len(old.states), len(now.states)) && isSameStep(old.states[same], now.states[same]) {
		if s := now.states[same]; !s.Equal(old.states[same]) {
			events = append(events, now.event(s, api.EventTypeStepChanged))
		}
		same++
	}
	before := make(map[string]*api.StepState, len(old.states)-same)
	for _, s := range old.states[same:] {
		before[s.Key()] = s
	}
	for _, s := range now.states[same:] {
		key := s.Key()
		switch was := before[key]; {
		case was == nil:
			events = append(events, now.event(s, api.EventTypeStepCreated))
		case !s.Equal(was):
			events = append(events, now.event(s, api.EventTypeStepChanged))
		}
		delete(before, key)
	}
	for _, s := range old.states[same:] {
		if before[s.Key()] == s {
			events = append(events, now.event(s, api.EventTypeStepRemoved))
		}
	}
	return events
}

// isSameStep reports whether two states have the same key.
func isSameStep(a, b *api.StepState) bool {
	return a.Step == b.Step && a.Phase == b.Phase && a.Plan == b.Plan && a.Place == b.Place && a.JobID == b.JobID
}

// jobsOf returns the jobs whose plans a batch may change.
func jobsOf(v *state.Snapshot, b *state.Batch) map[api.NamespacedID]struct{} {
	jobs := map[api.NamespacedID]struct{}{}
	add := func(namespace, id string) { jobs[api.NamespacedID{Namespace: namespace, ID: id}] = struct{}{} }
	for _, c := range b.Changes {
		object := c.New
		if c.Op == state.Delete {
			object = c.Old
		}
		switch o := object.(type) {
		case *api.Job:
			add(o.Namespace, o.ID)
		case *api.Allocation:
			add(o.Namespace, o.JobID)
		case *api.Evaluation:
			add(o.Namespace, o.JobID)
		case *api.Deployment:
			add(o.Namespace, o.JobID)
		case *api.Decision:
			add(o.Namespace, o.JobID)
		case *api.JobRestart:
			add(o.Namespace, o.JobID)
		case *api.Uninstalled:
			add(o.Namespace, o.JobID)
		case *api.Stack:
			add(o.Namespace, o.Name)
		case *api.Shift:
			add(o.Namespace, o.To)
		case *api.Node:
			if old, _ := c.Old.(*api.Node); old == nil || c.Op == state.Delete || !isSameForPlans(old, o) {
				for a := range v.AllocationsByNode(o.ID) {
					add(a.Namespace, a.JobID)
				}
			}
		}
	}
	return jobs
}

// isSameForPlans reports whether a change of a node leaves all plans as they are.
func isSameForPlans(old, node *api.Node) bool {
	return old.Status == node.Status && old.SilentSince == node.SilentSince && old.SchedulingEligibility == node.SchedulingEligibility &&
		reflect.DeepEqual(old.DrainStrategy, node.DrainStrategy)
}

// stepKeys returns what else finds a step: its job, its plan and its phase.
func stepKeys(s *api.StepState) []string {
	found := []string{s.JobID}
	if s.Phase != "" {
		found = append(found, s.JobID+"/"+s.Plan)
	}
	if s.Step != "" {
		found = append(found, s.JobID+"/"+s.Plan+"/"+s.Phase)
	}
	return found
}
