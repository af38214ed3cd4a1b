// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"net/http"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// builtIn are the plans that no job declares as its own.
var builtIn = []string{api.PlanDeploy, api.PlanRecovery, api.PlanDecommission, api.PlanUninstall, api.PlanRestart, api.PlanDrain}

func listPlans(q *request) error {
	plans, _, err := q.core.JobPlans(q.r.Context(), q.job.Namespace, q.job.ID)
	if err != nil {
		return err
	}
	if q.isLeaving(plans) {
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

// isLeaving reports whether the service is being uninstalled. The only plan is
// deploy then: it shows how far the uninstall is, which is what those who remove
// a package poll.
func (q *request) isLeaving(plans []*api.Plan) bool {
	return slices.ContainsFunc(plans, func(p *api.Plan) bool { return p.Name == api.PlanUninstall })
}

// plan returns the tree that the name stands for.
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

// ofDeploy makes a verb of the paths from before there were several plans.
func ofDeploy(serve func(*request) error) func(*request) error {
	return func(q *request) error {
		q.r.SetPathValue("plan", api.PlanDeploy)
		return serve(q)
	}
}

// planCode is the status with which a plan is answered.
func planCode(s api.PlanStatus) int {
	switch s {
	case api.PlanError:
		return http.StatusExpectationFailed
	case api.PlanComplete:
		return http.StatusOK
	}
	return http.StatusAccepted
}

// isRunning reports whether something is under way in what has the status.
func isRunning(s api.PlanStatus) bool {
	switch s {
	case api.PlanPrepared, api.PlanStarting, api.PlanStarted, api.PlanInProgress:
		return true
	}
	return false
}
