// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// planPriority are the plans that every job may have, the most urgent first.
var planPriority = []string{api.PlanDeploy, api.PlanWarming, api.PlanShift, api.PlanRecovery, api.PlanDecommission, api.PlanUninstall, api.PlanRestart, api.PlanDrain}

// inOrder lists plans as they come: by namespace and job, and a job's by
// priority, those that it declares itself last and as declared. Their keys say
// so, too; they are made only when a page begins somewhere.
func inOrder(plans []*api.Plan) order[*api.Plan] {
	keys := sync.OnceValue(func() map[*api.Plan]key {
		all := make(map[*api.Plan]key, len(plans))
		job, own := api.NamespacedID{}, 0
		for _, p := range plans {
			if of := (api.NamespacedID{Namespace: p.Namespace, ID: p.JobID}); of != job {
				job, own = of, 0
			}
			rank := slices.Index(planPriority, p.Name)
			if rank < 0 || p.IsCustom() {
				rank = len(planPriority) + own
				own++
			}
			all[p] = key{namespace: p.Namespace, id: fmt.Sprintf("%s/%03d", p.JobID, rank)}
		}
		return all
	})
	return order[*api.Plan]{key: func(p *api.Plan) key { return keys()[p] }, stored: true, byName: true}
}

func listPlans(c *call, v *state.Snapshot) ([]*api.Plan, uint64, error) {
	plans, index, err := c.Server.Plans(c.r.Context(), c.namespace)
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	readable := where(c.askedPlans(plans), func(p *api.Plan) bool { return c.inNamespace(p.Namespace) })
	page, err := pageOf(c, inOrder(plans), readable)
	return page, index, err
}

func getJobPlans(c *call, v *state.Snapshot) ([]*api.Plan, uint64, error) {
	plans, index, err := c.Server.JobPlans(c.r.Context(), c.namespace, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	page, err := pageOf(c, inOrder(plans), c.askedPlans(plans))
	return page, index, err
}

// askedPlans returns the plans that match the parameters prefix (of the job's id) and
// status.
func (c *call) askedPlans(plans []*api.Plan) iter.Seq[*api.Plan] {
	status := c.query.Get("status")
	return where(slices.Values(plans), func(p *api.Plan) bool {
		return strings.HasPrefix(p.JobID, c.prefix) && (status == "" || strings.EqualFold(string(p.Status), status))
	})
}

func getJobPlan(c *call, v *state.Snapshot) (*api.Plan, uint64, error) {
	p, index, err := c.Server.JobPlan(c.r.Context(), c.namespace, c.id(), c.r.PathValue("plan"))
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return p, index, nil
}

// planVerbs lists the verbs of plans, phases and steps.
var planVerbs = []api.Verb{api.VerbStart, api.VerbStop, api.VerbContinue, api.VerbInterrupt, api.VerbRestart, api.VerbForceComplete}

func planVerb(c *call, req *api.PlanRequest) (*api.PlanResponse, uint64, error) {
	verb, err := c.verb("plans", planVerbs)
	if err != nil {
		return nil, 0, err
	}
	if err := c.fillIn(map[string]*string{"phase": &req.Phase, "step": &req.Step, "by": &req.By, "reason": &req.Reason}); err != nil {
		return nil, 0, err
	}
	resp, err := c.Server.PlanVerb(c.r.Context(), c.namespace, c.id(), c.r.PathValue("plan"), verb, req)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}

// verb returns the {verb} of the path; an error if it is unknown.
func (c *call) verb(of string, known []api.Verb) (api.Verb, error) {
	verb := api.Verb(c.r.PathValue("verb"))
	if slices.Contains(known, verb) {
		return verb, nil
	}
	names := make([]string, len(known))
	for i, v := range known {
		names[i] = string(v)
	}
	return "", api.Errorf(api.CodeNotFound, "verb %q not found: those of %s are %s", verb, of, strings.Join(names, ", "))
}

// fillIn sets the fields that the body omits from the parameters of the query.
func (c *call) fillIn(fields map[string]*string) error {
	for name, field := range fields {
		value := c.query.Get(name)
		if token := c.tokenName(); name == "by" && token != "" {
			*field = token
			continue
		}
		if value != "" && *field != "" && *field != value {
			return api.Errorf(api.CodeInvalid, "%s: the query says %q, and the body %q", name, value, *field)
		}
		if value != "" {
			*field = value
		}
	}
	return nil
}
