// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/tree"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// Steps returns the states of a job's plans, each followed by its phases, and each of these by
// its steps. It returns none for a job that does not exist.
func (s *Server) Steps(snap *state.Snapshot, key api.NamespacedID) []*api.StepState {
	var states []*api.StepState
	for _, p := range wholePlans(snap, key, time.Now()) {
		states = append(states, planState(p))
		for _, ph := range p.Phases {
			states = append(states, phaseState(p, ph))
			from := len(states)
			for _, st := range ph.Steps {
				states = append(states, stepState(p, ph, st))
			}
			distinguish(states[from:])
		}
	}
	return states
}

// wholePlans returns a job's plans with everything.
func wholePlans(snap *state.Snapshot, key api.NamespacedID, now time.Time) []*api.Plan {
	if life := findLife(snap, key.Namespace, key.ID, now); life != nil {
		return life.Plans(plansOfJob(snap, life, true))
	}
	job := snap.Job(key.Namespace, key.ID)
	if job == nil {
		if u := uninstalledOf(snap, key.Namespace, key.ID); u != nil {
			return []*api.Plan{view.Uninstalled(u, true)}
		}
		return nil
	}
	v := view.Derive(snap, key, job, now)
	defer v.Release()
	return v.All()
}

// distinguish sets the place of steps that share their name with another one: several allocations
// of an instance, or instances on several nodes.
func distinguish(steps []*api.StepState) {
	named := make(map[string]*api.StepState, len(steps))
	for _, s := range steps {
		if first := named[s.Step]; first != nil {
			first.Place, s.Place = cmp.Or(first.Allocation, first.Node), cmp.Or(s.Allocation, s.Node)
		} else {
			named[s.Step] = s
		}
	}
}

func planState(p *api.Plan) *api.StepState {
	state := &api.StepState{
		Namespace: p.Namespace, JobID: p.JobID, Plan: p.Name, ID: p.ID, Status: p.Status, Interrupted: p.Interrupted, Message: p.Message,
		Since: p.Since, Until: p.Until, Completed: p.Completed, Total: p.Total, Run: p.Run, JobVersion: p.JobVersion, Errors: p.Errors,
	}
	for _, ph := range p.Phases {
		state.Errors = without(state.Errors, ph.Errors)
	}
	return state
}

func phaseState(p *api.Plan, ph *api.Phase) *api.StepState {
	state := &api.StepState{
		Namespace: p.Namespace, JobID: p.JobID, Plan: p.Name, Phase: ph.Name, ID: ph.ID, Status: ph.Status, Interrupted: ph.Interrupted,
		Message: unlessQueued(ph.Message), Since: ph.Since, Completed: ph.Completed, Total: ph.Total, Group: ph.Group, JobVersion: p.JobVersion, Errors: ph.Errors,
	}
	for _, st := range ph.Steps {
		if len(st.Errors) > 0 {
			state.Errors = nil // they are those of its steps
			break
		}
	}
	return state
}

func stepState(p *api.Plan, ph *api.Phase, st *api.Step) *api.StepState {
	return &api.StepState{
		Namespace: p.Namespace, JobID: p.JobID, Plan: p.Name, Phase: ph.Name, Step: st.Name, ID: st.ID, Status: st.Status, Interrupted: st.Interrupted,
		Message: unlessQueued(st.Message), Since: st.Since, Until: st.Until, Group: st.Group, Index: st.Index, Node: st.Node, Allocation: st.Allocation,
		JobVersion: st.JobVersion, Recovery: st.Recovery, Forced: st.Forced != nil, Errors: st.Errors,
	}
}

// unlessQueued omits a message that says which step comes before: it changes with every step
// ahead, and follows from their states.
func unlessQueued(message string) string {
	if strings.HasPrefix(message, tree.ComesAfter) {
		return ""
	}
	return message
}

// without returns the errors that are not the others.
func without(errors, others []string) []string {
	if len(others) == 0 {
		return errors
	}
	is := make(map[string]bool, len(others))
	for _, e := range others {
		is[e] = true
	}
	var rest []string
	for _, e := range errors {
		if !is[e] {
			rest = append(rest, e)
		}
	}
	return rest
}
