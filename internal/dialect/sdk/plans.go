// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"net/http"
	"slices"

	"github.com/reeve-run/reeve/api"
)

func listPlans(q *request) error {
	plans, _, err := q.core.JobPlans(q.r.Context(), q.job.Namespace, q.job.ID)
	if err != nil {
		return err
	}
	if q.job.Purge {
		// It shows the progress of the uninstall, which clients that remove a package poll.
		return q.json(http.StatusOK, []string{api.PlanDeploy})
	}
	names := []string{api.PlanDeploy, api.PlanRecovery} // which are always there
	for _, p := range plans {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return q.json(http.StatusOK, names)
}

// plan returns the plan with the name.
func (q *request) plan(name string) (*api.Plan, error) {
	ctx := q.r.Context()
	if name == api.PlanDeploy && q.job.Purge {
		name = api.PlanUninstall
	}
	p, _, err := q.core.JobPlan(ctx, q.job.Namespace, q.job.ID, name)
	if api.CodeOf(err) != api.CodeNotFound {
		return p, err
	}
	switch name {
	case api.PlanDeploy, api.PlanUninstall: // nothing has ever been rolled out, or nothing is left
		return &api.Plan{Name: name, Strategy: api.StrategySerial, Status: api.PlanComplete}, nil
	case api.PlanRecovery: // nothing has failed
		return &api.Plan{Name: name, Strategy: api.StrategyParallel, Status: api.PlanComplete}, nil
	}
	return nil, notFound("Plan", name)
}

func getPlan(q *request) error {
	p, err := q.plan(q.r.PathValue("plan"))
	if err != nil {
		return err
	}
	paused, err := q.pausedInstances(p)
	if err != nil {
		return err
	}
	return q.json(planCode(p.Status), planBodyOf(p, paused))
}

// ofDeploy converts a verb to one on the plan deploy, for older paths without a plan.
func ofDeploy(serve func(*request) error) func(*request) error {
	return func(q *request) error {
		q.r.SetPathValue("plan", api.PlanDeploy)
		return serve(q)
	}
}

// planCode returns the HTTP status of an answer with the plan.
func planCode(s api.PlanStatus) int {
	switch s {
	case api.PlanError:
		return http.StatusExpectationFailed
	case api.PlanComplete:
		return http.StatusOK
	}
	return http.StatusAccepted
}

// isRunning reports whether work is in progress in a plan, phase or step with the status.
func isRunning(s api.PlanStatus) bool {
	switch s {
	case api.PlanPrepared, api.PlanStarting, api.PlanStarted, api.PlanInProgress:
		return true
	}
	return false
}
