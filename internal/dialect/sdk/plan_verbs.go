// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// do records an operator's decision on a plan, or on its phase or step with these ids.
func (q *request) do(p *api.Plan, verb api.Verb, req api.PlanRequest) error {
	req.By = q.by()
	_, err := q.core.PlanVerb(q.r.Context(), q.job.Namespace, q.job.ID, p.Name, verb, &req)
	return err
}

func (q *request) pathPlan() (*api.Plan, error) { return q.plan(q.r.PathValue("plan")) }

// startPlan starts a plan that the job declares. The plans of every job are always
// started: startPlan continues them, or restarts them if they are complete.
func startPlan(q *request) error {
	parameters, err := q.parameters()
	if err != nil {
		return err
	}
	p, err := q.pathPlan()
	if err != nil {
		return err
	}
	isOwn := p.IsCustom()
	switch {
	case isOwn && p.Run != "" && p.Interrupted && p.Status != api.PlanComplete && len(parameters) == 0:
		err = q.do(p, api.VerbContinue, api.PlanRequest{})
	case isOwn:
		err = q.do(p, api.VerbStart, api.PlanRequest{Parameters: parameters})
		if api.CodeOf(err) == api.CodeConflict {
			return already()
		}
	case len(parameters) > 0:
		return failf(http.StatusBadRequest, "Couldn't parse parameters: only plans that the service declares itself take parameters, and %s is none", p.Name)
	case p.Interrupted:
		err = q.do(p, api.VerbContinue, api.PlanRequest{})
	case p.Status == api.PlanComplete && p.Name == api.PlanDeploy:
		err = q.do(p, api.VerbRestart, api.PlanRequest{})
	}
	if err != nil {
		return err
	}
	return q.received("start %s with parameters: %s", q.r.PathValue("plan"), shownMap(parameters))
}

// shownMap formats a map like Java, sorted by key.
func shownMap(m map[string]string) string {
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, k+"="+m[k])
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// stopPlan ends the run of a plan that the job declares, and interrupts other plans.
func stopPlan(q *request) error {
	p, err := q.pathPlan()
	if err != nil {
		return err
	}
	switch {
	case p.IsCustom():
		err = q.do(p, api.VerbStop, api.PlanRequest{})
		if api.CodeOf(err) == api.CodeConflict {
			return already() // it does not run
		}
	case !p.Interrupted && p.Status != api.PlanComplete:
		err = q.do(p, api.VerbInterrupt, api.PlanRequest{})
	}
	if err != nil {
		return err
	}
	return q.received("stop")
}

// continuePlan continues the waiting parts of a plan.
func continuePlan(q *request) error {
	p, err := q.pathPlan()
	if err != nil {
		return err
	}
	if !q.query.Has("phase") {
		if p.Status == api.PlanComplete || isRunning(p.Status) && !planWaits(p) {
			return already()
		}
		if planWaits(p) {
			if err := q.do(p, api.VerbContinue, api.PlanRequest{}); err != nil {
				return err
			}
		}
		return q.received("continue")
	}
	phases, err := q.phases(p)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(phases, func(ph *api.Phase) bool {
		return ph.Status != api.PlanComplete && (!isRunning(ph.Status) || phaseWaits(ph))
	}) {
		return already()
	}
	for _, ph := range phases {
		if ph.Status != api.PlanComplete && phaseWaits(ph) {
			if err := q.do(p, api.VerbContinue, api.PlanRequest{Phase: ph.ID}); err != nil {
				return err
			}
		}
	}
	return q.received("continue")
}

// planWaits reports whether a part of the plan waits to be continued.
func planWaits(p *api.Plan) bool { return p.Interrupted || slices.ContainsFunc(p.Phases, phaseWaits) }

func phaseWaits(ph *api.Phase) bool {
	return ph.Interrupted || slices.ContainsFunc(ph.Steps, func(st *api.Step) bool { return st.Interrupted || st.Status == api.PlanWaiting })
}

// isIdle reports whether the job declares the plan and no operator started it.
func isIdle(p *api.Plan) bool { return p.Run == "" && p.IsCustom() }

// interruptPlan prevents the plan from beginning further steps.
func interruptPlan(q *request) error {
	p, err := q.pathPlan()
	if err != nil {
		return err
	}
	if !q.query.Has("phase") {
		if p.Interrupted || p.Status == api.PlanComplete || isIdle(p) {
			return already()
		}
		if err := q.do(p, api.VerbInterrupt, api.PlanRequest{}); err != nil {
			return err
		}
		return q.received("interrupt")
	}
	phases, err := q.phases(p)
	if err != nil {
		return err
	}
	open := slices.DeleteFunc(phases, func(ph *api.Phase) bool { return ph.Interrupted || ph.Status == api.PlanComplete })
	if len(open) == 0 {
		return already()
	}
	for _, ph := range open {
		if err := q.do(p, api.VerbInterrupt, api.PlanRequest{Phase: ph.ID}); err != nil {
			return err
		}
	}
	return q.received("interrupt")
}

// phases returns the plan's phases with the name or id in the query.
func (q *request) phases(p *api.Plan) ([]*api.Phase, error) {
	name := q.query.Get("phase")
	var found []*api.Phase
	for _, ph := range p.Phases {
		if ph.ID == name || ph.Name == name {
			found = append(found, ph)
		}
	}
	if len(found) == 0 {
		return nil, notFound("Phase", name)
	}
	return found, nil
}

// element is the plan, phase or step on which a verb acts.
type element struct {
	plan        *api.Plan
	request     api.PlanRequest // that names it
	status      api.PlanStatus
	interrupted bool
}

// element returns the element that the query names: the first phase of that name, and
// its only step with the name.
func (q *request) element() (*element, error) {
	p, err := q.pathPlan()
	if err != nil {
		return nil, err
	}
	e := &element{plan: p, status: p.Status, interrupted: p.Interrupted}
	if !q.query.Has("phase") {
		if q.query.Has("step") {
			return nil, failf(http.StatusBadRequest, "Missing phase")
		}
		return e, nil
	}
	phases, err := q.phases(p)
	if err != nil {
		return nil, err
	}
	ph := phases[0]
	e.request.Phase, e.status, e.interrupted = ph.ID, ph.Status, ph.Interrupted
	if !q.query.Has("step") {
		return e, nil
	}
	name := q.query.Get("step")
	var found []*api.Step
	for _, st := range ph.Steps {
		if st.ID == name || st.Name == name {
			found = append(found, st)
		}
	}
	if len(found) != 1 {
		return nil, notFound("Step", name)
	}
	e.request.Step, e.status, e.interrupted = found[0].ID, found[0].Status, found[0].Interrupted
	return e, nil
}

func forceCompletePlan(q *request) error {
	e, err := q.element()
	if err != nil {
		return err
	}
	if e.status == api.PlanComplete {
		return already()
	}
	if err := q.do(e.plan, api.VerbForceComplete, e.request); err != nil {
		return err
	}
	return q.received("forceComplete for %s", q.named())
}

// restartPlan restarts an element, and first continues it if an operator holds it.
func restartPlan(q *request) error {
	e, err := q.element()
	if err != nil {
		return err
	}
	if e.status == api.PlanPending || isIdle(e.plan) {
		return already()
	}
	if e.interrupted {
		if err := q.do(e.plan, api.VerbContinue, e.request); err != nil {
			return err
		}
	}
	if err := q.do(e.plan, api.VerbRestart, e.request); err != nil {
		return err
	}
	return q.received("restart for %s", q.named())
}

// named returns the element as the request names it.
func (q *request) named() string {
	name := func(key string) string {
		if !q.query.Has(key) {
			return "null"
		}
		return q.query.Get(key)
	}
	return fmt.Sprintf("Plan: %s, Phase: %s, Step: %s", q.r.PathValue("plan"), name("phase"), name("step"))
}
