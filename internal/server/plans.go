// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/deployment"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// planTables are what plans are derived from.
var planTables = []state.Table{
	state.TableJobs, state.TableAllocations, state.TableDeployments, state.TableDecisions, state.TableRestarts,
	state.TableEvaluations, state.TableNodes, state.TableUninstalled, state.TableStacks, state.TableShifts,
}

// Plans returns the plans of all jobs of a namespace, or of all if it is "*",
// without their phases, and the index that they are of. Of a job that was purged
// a short while ago it returns the plan uninstall.
func (s *Server) Plans(_ context.Context, ns string) ([]*api.Plan, uint64, error) {
	snap, now := s.store.Snapshot(), time.Now()
	jobs := slices.Collect(snap.JobsPrefix(ns, ""))
	// Each processor derives those of some jobs that follow each other.
	shifts := shiftsByTarget(snap)
	parts := make([][]*api.Plan, 0, runtime.GOMAXPROCS(0))
	var derived sync.WaitGroup
	for some := range slices.Chunk(jobs, max(len(jobs)/cap(parts)+1, fewJobs)) {
		parts = append(parts, nil)
		part := &parts[len(parts)-1]
		derived.Go(func() { *part = listPlans(snap, some, shifts, now) })
	}
	rest := unregisteredPlans(snap, ns, now)
	for u := range snap.UninstalledJobs(ns) {
		removed := []*api.Plan{view.Uninstalled(u, false)}
		if stack := stackOf(snap, u.Key()); stack != nil {
			removed = stackPlans(control.StackLife(snap, stack, nil, nil, now), removed)
		}
		rest = append(rest, removed...)
	}
	derived.Wait()
	list := slices.Concat(parts...)
	if len(rest) > 0 {
		list = append(list, rest...)
		slices.SortStableFunc(list, func(a, b *api.Plan) int {
			return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.JobID, b.JobID))
		})
	}
	return list, snap.TableIndex(planTables...), nil
}

// fewJobs are not worth another goroutine.
const fewJobs = 64

func listPlans(snap *state.Snapshot, jobs []*api.Job, shifts map[api.NamespacedID]*api.Shift, now time.Time) []*api.Plan {
	plans := make([]*api.Plan, 0, 2*len(jobs))
	for _, job := range jobs {
		v := view.Derive(snap, job.Key(), job, now)
		list := v.List()
		v.Release()
		if stack := stackOf(snap, job.Key()); stack != nil {
			list = stackPlans(control.StackLife(snap, stack, job, shifts[stack.Key()], now), list)
		}
		plans = append(plans, list...)
	}
	return plans
}

// JobPlans returns a job's plans without their phases: of a job that was purged a
// short while ago, the plan uninstall.
func (s *Server) JobPlans(_ context.Context, ns, id string) ([]*api.Plan, uint64, error) {
	snap, now := s.store.Snapshot(), time.Now()
	if life := findLife(snap, ns, id, now); life != nil {
		list, err := stackPlans(life, plansOfJob(snap, life, false)), error(nil)
		if len(list) == 0 {
			err = noStackPlans(life.Stack)
		}
		return list, snap.TableIndex(planTables...), err
	}
	job, err := jobOf(snap, ns, id)
	if err != nil {
		if u := uninstalledOf(snap, ns, id); u != nil {
			return []*api.Plan{view.Uninstalled(u, false)}, snap.TableIndex(planTables...), nil
		}
		return nil, 0, err
	}
	v := view.Derive(snap, job.Key(), job, now)
	defer v.Release()
	return v.List(), snap.TableIndex(planTables...), nil
}

// JobPlan returns one plan of a job, by its name or id, with everything.
func (s *Server) JobPlan(_ context.Context, ns, id, name string) (*api.Plan, uint64, error) {
	snap, now := s.store.Snapshot(), time.Now()
	if life := findLife(snap, ns, id, now); life != nil {
		p, err := stackPlan(snap, life, name)
		return p, snap.TableIndex(planTables...), err
	}
	job, err := jobOf(snap, ns, id)
	if err != nil {
		u := uninstalledOf(snap, ns, id)
		switch {
		case u == nil:
			return nil, 0, err
		case name != api.PlanUninstall && name != view.UninstallID(u.Key()):
			return nil, 0, api.Errorf(api.CodeNotFound, "job %q is removed: of its plans only %s can still be read", id, api.PlanUninstall)
		}
		return view.Uninstalled(u, true), snap.TableIndex(planTables...), nil
	}
	p, err := planOf(snap, job, name, now)
	return p, snap.TableIndex(planTables...), err
}

// uninstalledOf returns what is remembered of a purged job, nil if nothing is.
func uninstalledOf(snap *state.Snapshot, ns, id string) *api.Uninstalled {
	return snap.Uninstalled(cmp.Or(ns, api.DefaultNamespace), id)
}

// planOf derives one plan, or returns an error that lists the plans.
func planOf(snap *state.Snapshot, job *api.Job, name string, now time.Time) (*api.Plan, error) {
	v := view.Derive(snap, job.Key(), job, now)
	defer v.Release()
	if p := v.Plan(name); p != nil {
		return p, nil
	}
	return nil, noPlan(job.ID, name, v.List())
}

// noPlan returns the error of a plan that does not exist, with those that do.
func noPlan(job, name string, list []*api.Plan) error {
	e := api.Errorf(api.CodeNotFound, "job %q has no plan %q now", job, name)
	for _, p := range list {
		e.Detail = append(e.Detail, p.Name)
	}
	if len(e.Detail) > 0 {
		e.Message += "; its plans are"
	}
	return e
}

// PlanVerb records a decision about a job's plan, or about a phase or step of it, and returns
// the resulting plan.
func (s *Server) PlanVerb(ctx context.Context, ns, id, name string, verb api.Verb, req *api.PlanRequest) (*api.PlanResponse, error) {
	if life := findLife(s.store.Snapshot(), ns, id, time.Now()); life != nil && life.Job == nil {
		return s.decideUnregistered(ctx, ns, id, name, verb, req)
	}
	cmd, index, err := s.decide(ctx, ns, id, func(snap *state.Snapshot, job *api.Job, now time.Time) (*state.Decide, error) {
		if cmd, err := decideStack(snap, job, name, verb, req, now); cmd != nil || err != nil {
			return cmd, err
		}
		d, err := operator.Decide(snap, job, name, verb, req, now)
		if err != nil {
			return nil, err
		}
		cmd := &state.Decide{Decision: d}
		switch {
		case d.Phase != "":
		case d.Plan == api.PlanDeploy:
			cmd.DeploymentUpdate = deploymentVerb(snap, job, d)
		case d.Plan == api.PlanRestart:
			cmd.UpdateRestart = restartVerb(snap, job, d)
		}
		return cmd, nil
	})
	if err != nil {
		return nil, err
	}
	res := &api.PlanResponse{Decision: s.stored(cmd.Decision), Index: index}
	if cmd.Evaluation != nil {
		res.EvalID = cmd.Evaluation.ID
	}
	res.Plan, _, _ = s.JobPlan(ctx, cmd.Decision.Namespace, cmd.Decision.JobID, cmd.Decision.Plan)
	return res, nil
}

// deploymentVerb keeps the deployment in step with its plan: it is paused while
// the plan is interrupted.
func deploymentVerb(snap *state.Snapshot, job *api.Job, d *api.Decision) *state.DeploymentUpdate {
	current := snap.LatestDeployment(job.Namespace, job.ID)
	switch {
	case current == nil || !current.IsActive() || current.JobVersion != job.Version:
	case d.Verb == api.VerbInterrupt && current.Status == api.DeploymentRunning:
		return &state.DeploymentUpdate{
			ID: current.ID, Status: api.DeploymentPaused,
			Reason: api.ReasonDeploymentPaused, Description: api.PausedText(d.By, d.Reason),
		}
	case (d.Verb == api.VerbContinue || d.Verb == api.VerbRestart) && current.Status == api.DeploymentPaused:
		reason := deployment.Standing(current)
		return &state.DeploymentUpdate{ID: current.ID, Status: api.DeploymentRunning, Reason: reason, Description: reason.Text()}
	}
	return nil
}

// stored is a decision as the store has it.
func (s *Server) stored(d *api.Decision) *api.Decision {
	if stored := s.store.Snapshot().Decision(d.ID); stored != nil {
		return stored
	}
	return d
}

// decideAttempts is how often a decision is made anew because another one was
// stored meanwhile.
const decideAttempts = 8

// decide has a decision made and stored. What was decided by others meanwhile is
// taken into account; but when the job, or what its plan carries out, has become
// another, it is for the operator to look again.
func (s *Server) decide(ctx context.Context, ns, id string, make func(*state.Snapshot, *api.Job, time.Time) (*state.Decide, error)) (*state.Decide, uint64, error) {
	var first *api.Decision
	for attempt := 1; ; attempt++ {
		snap, now := s.store.Snapshot(), time.Now()
		job, err := jobOf(snap, ns, id)
		if err != nil {
			return nil, 0, err
		}
		cmd, err := make(snap, job, now)
		if err != nil {
			return nil, 0, err
		}
		d := cmd.Decision
		if d.ID == "" {
			d.ID = api.NewID()
		}
		if all := snap.Decisions(job.Namespace, job.ID); len(all) > 0 {
			cmd.After = all[len(all)-1].ID
		}
		if cmd.Time = now.UnixNano(); cmd.Shift == nil && cmd.Stack == nil {
			cmd.Evaluation = evaluationOf(job, api.TriggerPlanOperation, 0, now)
		}
		if first == nil {
			first = d
		} else if d.JobCreateIndex != first.JobCreateIndex || d.JobVersion != first.JobVersion || d.Verb != api.VerbStart && d.Run != first.Run {
			return nil, 0, api.Errorf(api.CodeConflict, "job %q was changed meanwhile: check its plans and try again", job.ID)
		}
		index, err := s.propose(ctx, cmd)
		if err == nil {
			return cmd, index, nil
		}
		if api.CodeOf(err) != api.CodeConflict || attempt == decideAttempts {
			return nil, 0, err
		}
	}
}
