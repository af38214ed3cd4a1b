// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/stackplan"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// stackOf returns the stack whose job has a key, nil for any other job.
func stackOf(snap *state.Snapshot, key api.NamespacedID) *api.Stack {
	if _, _, _, ok := api.ParseStackName(key.ID); !ok {
		return nil
	}
	return snap.Stack(key.Namespace, key.ID)
}

// shiftsByTarget returns the newest shift to each stack that has one.
func shiftsByTarget(snap *state.Snapshot) map[api.NamespacedID]*api.Shift {
	shifts := make(map[api.NamespacedID]*api.Shift)
	for s := range snap.Shifts() {
		key := api.NamespacedID{Namespace: s.Namespace, ID: s.To}
		if old := shifts[key]; old == nil || s.StartedAt.After(old.StartedAt) {
			shifts[key] = s
		}
	}
	return shifts
}

// findLife returns the facts about the plans of the stack of that name, nil if there is no such stack.
func findLife(snap *state.Snapshot, ns, id string, now time.Time) *stackplan.Life {
	ns = cmp.Or(ns, api.DefaultNamespace)
	stack := stackOf(snap, api.NamespacedID{Namespace: ns, ID: id})
	if stack == nil {
		return nil
	}
	var shift *api.Shift
	for s := range snap.ShiftsOfUnit(ns, stack.Unit) {
		if s.To == id && (shift == nil || s.StartedAt.After(shift.StartedAt)) {
			shift = s
		}
	}
	return control.StackLife(snap, stack, snap.Job(ns, id), shift, now)
}

// stackPlans returns the plans of a stack without their phases, from those of its job.
func stackPlans(life *stackplan.Life, ofJob []*api.Plan) []*api.Plan {
	all := life.Plans(ofJob)
	for i, p := range all {
		if p.Phases != nil {
			all[i] = stackplan.WithoutPhases(p)
		}
	}
	return all
}

// stackPlan returns one plan of a stack, by its name or id, with everything.
func stackPlan(snap *state.Snapshot, life *stackplan.Life, name string) (*api.Plan, error) {
	all := life.Plans(plansOfJob(snap, life, true))
	for _, p := range all {
		if p.Name == name || p.ID == name {
			return p, nil
		}
	}
	if len(all) == 0 {
		return nil, noStackPlans(life.Stack)
	}
	return nil, noPlan(life.Stack.Name, name, all)
}

func noStackPlans(s *api.Stack) error {
	return api.Errorf(api.CodeNotFound, "stack %s is %s and has no plans; see its history with: reeve stack why %s", s.Name, s.Status, s.Name)
}

// plansOfJob returns the plans of a stack's job without those that only stacks have.
func plansOfJob(snap *state.Snapshot, life *stackplan.Life, whole bool) []*api.Plan {
	if job := life.Job; job != nil {
		v := view.Derive(snap, job.Key(), job, life.Now)
		defer v.Release()
		if whole {
			return v.All()
		}
		return v.List()
	}
	if u := uninstalledOf(snap, life.Stack.Namespace, life.Stack.Name); u != nil {
		return []*api.Plan{view.Uninstalled(u, whole)}
	}
	return pendingPlans(snap, life, whole)
}

// pendingPlans returns the plan deploy of a stack whose job is not registered yet, nil for any
// other stack.
func pendingPlans(snap *state.Snapshot, life *stackplan.Life, whole bool) []*api.Plan {
	stack := life.Stack
	if life.Job != nil || stack.Status != api.StackPending {
		return nil
	}
	submitted := snap.StackJob(stack.Namespace, stack.Name)
	if submitted == nil {
		return nil
	}
	v := view.Derive(snap, submitted.Key(), submitted, life.Now)
	defer v.Release()
	p := v.Plan(api.PlanDeploy)
	if p == nil {
		return nil
	}
	if life.Pending(p); !whole {
		p.Phases = nil
	}
	return []*api.Plan{p}
}

// unregisteredPlans lists the plans of the stacks of a namespace whose jobs are not registered yet.
func unregisteredPlans(snap *state.Snapshot, ns string, now time.Time) (list []*api.Plan) {
	for stack := range snap.Stacks(ns) {
		if stack.Status == api.StackPending && snap.Job(stack.Namespace, stack.Name) == nil {
			life := control.StackLife(snap, stack, nil, nil, now)
			list = append(list, stackPlans(life, pendingPlans(snap, life, false))...)
		}
	}
	return list
}

// decideUnregistered applies a verb to a plan of a stack whose job is not registered. Such a job has no
// decisions, so the audit record of the shift is the only record.
func (s *Server) decideUnregistered(ctx context.Context, ns, id, name string, verb api.Verb, req *api.PlanRequest) (*api.PlanResponse, error) {
	for attempt := 1; ; attempt++ {
		snap := s.store.Snapshot()
		life := findLife(snap, ns, id, time.Now())
		if life == nil {
			return nil, api.Errorf(api.CodeNotFound, "stack %q not found in namespace %s", id, cmp.Or(ns, api.DefaultNamespace))
		}
		p, err := stackPlan(snap, life, name)
		if err != nil {
			return nil, err
		}
		change, err := life.Decide(p, verb, req)
		if err != nil {
			return nil, err
		}
		change.Shift.ChangedBy = change.Decision.By
		index, err := s.propose(ctx, state.PutShift(change.Shift))
		if api.CodeOf(err) == api.CodeConflict && attempt < decideAttempts {
			continue
		}
		if err != nil {
			return nil, err
		}
		res := &api.PlanResponse{Decision: change.Decision, Index: index}
		res.Plan, _, _ = s.JobPlan(ctx, ns, id, name)
		return res, nil
	}
}

// decideStack returns the command of a verb on a plan that only stacks have; nil for any other plan.
func decideStack(snap *state.Snapshot, job *api.Job, name string, verb api.Verb, req *api.PlanRequest, now time.Time) (*state.Decide, error) {
	life := findLife(snap, job.Namespace, job.ID, now)
	if life == nil || name == api.PlanUpdate {
		return nil, nil
	}
	p, err := stackPlan(snap, life, name)
	if err != nil || !life.IsOwn(p, req) {
		return nil, err
	}
	change, err := life.Decide(p, verb, req)
	if err != nil {
		return nil, err
	}
	if change.Shift != nil {
		change.Shift.ChangedBy = change.Decision.By
	}
	return &state.Decide{Decision: change.Decision, Shift: change.Shift, Stack: change.Stack}, nil
}
