// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package stackplan

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/ident"
)

// A Life holds the facts about a stack from which its plans are derived.
type Life struct {
	Stack *api.Stack
	Job   *api.Job   // job of the stack; nil before its registration and after its removal
	Shift *api.Shift // newest shift to the stack, or nil
	// Allocations are those of the job.
	Allocations []*api.Allocation
	// IsSilent reports whether a node does not answer.
	IsSilent  func(node string) bool
	Decisions []*api.Decision // decisions of operators about the job, oldest first
	Now       time.Time
}

// Plans returns all plans of the stack with everything, by priority, from the plans of its job.
func (l *Life) Plans(ofJob []*api.Plan) (all []*api.Plan) {
	own := l.own()
	for _, p := range ofJob {
		switch p.Name {
		case api.PlanDeploy:
			all = append(all, p)
			all, own = append(all, own...), nil
		case api.PlanUninstall:
			l.addGrace(p)
			all = append(all, p)
		default:
			all = append(all, p)
		}
	}
	all = append(own, all...)
	if p := l.uninstall(); p != nil && !slices.ContainsFunc(ofJob, isUninstall) {
		all = append(all, p)
	}
	return all
}

func isUninstall(p *api.Plan) bool { return p.Name == api.PlanUninstall }

// own returns the plans between deploy and uninstall.
func (l *Life) own() (own []*api.Plan) {
	for _, p := range []*api.Plan{l.warming(), l.shift()} {
		if p != nil {
			own = append(own, p)
		}
	}
	return own
}

// IsOwn reports whether Decide applies to a verb on the plan. Verbs on the plans of the job, and on
// the phases that the job's plan uninstall has in common with other jobs, are not its business.
func (l *Life) IsOwn(p *api.Plan, req *api.PlanRequest) bool {
	switch p.Name {
	case api.PlanWarming, api.PlanShift:
		return true
	case api.PlanUninstall:
		if l.Job == nil || !l.Job.Purge {
			return true
		}
		ph := p.Phases[0]
		return req != nil && ph.Name == phaseGrace && (req.Phase == ph.Name || req.Phase == ph.ID || req.Step == ph.Name || req.Step == ph.Steps[0].ID)
	}
	return false
}

// WithoutPhases returns the plan as lists show it.
func WithoutPhases(p *api.Plan) *api.Plan {
	short := *p
	short.Phases, short.Decisions = nil, nil
	for _, ph := range p.Phases {
		for _, st := range ph.Steps {
			if short.Message == "" && st.Status != api.PlanPending && st.Status != api.PlanComplete {
				short.Message = st.Message
			}
		}
	}
	return &short
}

// Pending makes a plan of a stack whose job is not registered yet: no step has started.
func (l *Life) Pending(p *api.Plan) {
	p.Message, p.Completed, p.Since = l.Stack.StatusText(), 0, l.Stack.StatusSince
	if p.Status = api.PlanPending; l.Stack.Status == api.StackFailed {
		p.Status, p.Errors = api.PlanError, []string{l.Stack.StatusText()}
	}
	for _, ph := range p.Phases {
		ph.Status, ph.Message, ph.Completed = api.PlanPending, "", 0
		for _, st := range ph.Steps {
			st.Status, st.Message = api.PlanPending, ""
		}
	}
}

// plan returns a plan without phases.
func (l *Life) plan(name string) *api.Plan {
	p := &api.Plan{
		ID: ident.Derive("plan", l.Stack.Namespace, l.Stack.Name, name), Name: name,
		Namespace: l.Stack.Namespace, JobID: l.Stack.Name, Strategy: api.StrategySerial,
	}
	if l.Job != nil {
		p.JobVersion = l.Job.Version
	}
	return p
}

func (l *Life) phase(plan *api.Plan, name, strategy string) *api.Phase {
	return &api.Phase{
		ID: ident.Derive("phase", plan.Namespace, plan.JobID, plan.Name, name), Name: name, Strategy: strategy, Steps: []*api.Step{},
	}
}

func (l *Life) step(plan *api.Plan, phase *api.Phase, name string, status api.PlanStatus, message string) *api.Step {
	st := &api.Step{
		ID: ident.Derive("step", plan.Namespace, plan.JobID, plan.Name, phase.Name, name, ""), Name: name,
		Status: status, Message: message, JobVersion: plan.JobVersion,
	}
	phase.Steps = append(phase.Steps, st)
	return st
}

// count sets the numbers of steps, and collects the errors.
func count(p *api.Plan) *api.Plan {
	p.Completed, p.Total = 0, 0
	for _, ph := range p.Phases {
		ph.Completed, ph.Total = 0, len(ph.Steps)
		for _, st := range ph.Steps {
			if st.Status == api.PlanComplete {
				ph.Completed++
			}
			for _, e := range st.Errors {
				ph.Errors = append(ph.Errors, st.Name+": "+e)
			}
		}
		p.Completed, p.Total = p.Completed+ph.Completed, p.Total+ph.Total
		p.Errors = append(p.Errors, ph.Errors...)
	}
	return p
}
