// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"net/http"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// health is the health of a service: a number, which is also the status of the answer
// if HTTP defines such a status.
type health struct {
	value  int
	name   string
	reason string
}

// The healths of a service. 206 and 326 never occur: the original does not compute them
// either.
var (
	running           = health{200, "RUNNING", "everything is as it should be"}
	deployingStarting = health{202, "DEPLOYING_STARTING", "steps of the deploy plan are starting"}
	recoveryPending   = health{203, "RECOVERING_PENDING", "steps of the recovery plan are to be begun"}
	deployingPending  = health{204, "DEPLOYING_PENDING", "steps of the deploy plan are to be begun"}
	recoveryStarting  = health{205, "RECOVERING_STARTING", "steps of the recovery plan are starting"}
	waitingUser       = health{207, "DEPLOYING_WAITING_USER", "the deploy plan waits for an operator to continue it"}
	delayed           = health{208, "DELAYED", "steps of the deploy plan are held back"}
	backingUp         = health{320, "BACKING_UP", "a backup is made"}
	restoring         = health{321, "RESTORING", "a backup is restored"}
	failing           = health{500, "ERROR", "plans have errors"}
)

func getHealth(q *request) error {
	h, reasons, err := q.health()
	if err != nil {
		return err
	}
	body := struct {
		Value   int      `json:"value"`
		Reasons []string `json:"reasons,omitempty"`
	}{Value: h.value}
	if q.query.Get("verbose") == "true" {
		body.Reasons = append([]string{h.name + ": " + h.reason}, reasons...)
	}
	status := h.value
	switch status {
	case http.StatusNoContent, http.StatusResetContent:
		status = http.StatusAccepted // an answer with those statuses cannot have a body
	}
	return q.json(status, body)
}

// health evaluates the plans by importance. It returns the health, and the steps that
// caused it.
func (q *request) health() (health, []string, error) {
	plans, _, err := q.core.JobPlans(q.r.Context(), q.job.Namespace, q.job.ID)
	if err != nil {
		return health{}, nil, err
	}
	var errors, reversed []string
	for _, p := range plans {
		switch {
		case p.Status != api.PlanError:
		case p.Name == api.PlanShift && q.isStack():
			reversed = append([]string{"plan " + p.Name}, p.Errors...)
		default:
			errors = append(errors, append([]string{"plan " + p.Name}, p.Errors...)...)
		}
	}
	if len(errors) > 0 {
		return failing, errors, nil
	}
	deploy, err := q.plan(api.PlanDeploy)
	if err != nil {
		return health{}, nil, err
	}
	recovery, err := q.plan(api.PlanRecovery)
	if err != nil {
		return health{}, nil, err
	}
	for _, c := range []struct {
		plan *api.Plan
		is   func(*api.Step) bool
		then health
	}{
		{deploy, inStatus(api.PlanDelayed), delayed},
		{deploy, inStatus(api.PlanStarting, api.PlanStarted), deployingStarting},
		{deploy, inStatus(api.PlanPrepared), deployingPending},
		{deploy, isHeld, waitingUser},
		{deploy, inStatus(api.PlanPending), deployingPending},
		{recovery, inStatus(api.PlanPending, api.PlanPrepared, api.PlanDelayed, api.PlanWaiting), recoveryPending},
		{recovery, inStatus(api.PlanStarting, api.PlanStarted), recoveryStarting},
	} {
		if c.then == waitingUser && c.plan.Interrupted && c.plan.Status != api.PlanComplete {
			return waitingUser, nil, nil
		}
		if steps := stepsOf(c.plan, c.is); len(steps) > 0 {
			return c.then, steps, nil
		}
	}
	for _, c := range []struct {
		word string
		then health
	}{{"restor", restoring}, {"back", backingUp}} {
		for _, p := range plans {
			if strings.Contains(p.Name, c.word) && isRunning(p.Status) {
				return c.then, []string{"plan " + p.Name}, nil
			}
		}
	}
	return running, reversed, nil
}

// isStack reports whether the service is a stack. The plan shift of a stack moves traffic between services, and the
// original has no such plan: its plans roll out or recover the service, and an operator must correct their errors. A
// reversed shift has ended, nothing must be corrected, and the service continues to run without traffic.
func (q *request) isStack() bool {
	return q.v.Stack(q.job.Namespace, q.job.ID) != nil
}

func inStatus(statuses ...api.PlanStatus) func(*api.Step) bool {
	return func(st *api.Step) bool { return slices.Contains(statuses, st.Status) }
}

func isHeld(st *api.Step) bool { return st.Interrupted || st.Status == api.PlanWaiting }

// stepsOf returns names and statuses of the plan's steps for which is returns true.
func stepsOf(p *api.Plan, is func(*api.Step) bool) []string {
	var names []string
	for _, ph := range p.Phases {
		for _, st := range ph.Steps {
			if is(st) {
				names = append(names, st.Name+" is "+string(st.Status))
			}
		}
	}
	return names
}
