// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/deployment"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// Promote returns a copy of the deployment in which the canaries of the groups are
// promoted; without groups, those of all groups that wait for promotion. It returns an
// error while a canary is unhealthy, because promoted canaries replace healthy instances.
func Promote(r facts.Reader, d *api.Deployment, groups []string) (*api.Deployment, error) {
	if err := checkActive(d); err != nil {
		return nil, err
	}
	waiting := deployment.WaitingGroups(d)
	switch {
	case len(waiting) == 0 && len(groups) == 0:
		return nil, api.Errorf(api.CodeInvalid, "deployment %s has no canaries that wait for promotion", api.ShortID(d.ID))
	case d.Status == api.DeploymentPaused:
		return nil, api.Errorf(api.CodeInvalid, "deployment %s is paused: resume it first (reeve deployment resume %[1]s)", api.ShortID(d.ID))
	case len(groups) == 0:
		groups = waiting
	}
	promoted := d.Copy()
	for _, name := range groups {
		g := promoted.Groups[name]
		switch {
		case g == nil:
			return nil, api.Errorf(api.CodeInvalid, "deployment %s has no group %q; it has %s", api.ShortID(d.ID), name, quoted(deployment.GroupNames(d)))
		case g.DesiredCanaries == 0:
			return nil, api.Errorf(api.CodeInvalid, "group %q of deployment %s has no canaries; %s", name, api.ShortID(d.ID), thoseThatWait(waiting))
		case d.Groups[name].Promoted:
			return nil, api.Errorf(api.CodeInvalid, "the canaries of group %q of deployment %s are promoted already", name, api.ShortID(d.ID))
		}
		if healthy := deployment.HealthyCanaries(r, d, name); healthy < g.DesiredCanaries {
			return nil, api.Errorf(api.CodeInvalid,
				"group %q of deployment %s has %d healthy canaries of %d: wait for the others, or fail the deployment (reeve deployment fail %[2]s)",
				name, api.ShortID(d.ID), healthy, g.DesiredCanaries)
		}
		g.Promoted = true
	}
	promoted.StatusReason = deployment.Standing(promoted)
	promoted.StatusDescription = promoted.StatusReason.Text()
	return promoted, nil
}

// CheckHealth returns an error if an operator may not set the health of these allocations:
// all must be live allocations of the deployment.
func CheckHealth(r facts.Reader, d *api.Deployment, healthy, unhealthy []string) error {
	if err := checkActive(d); err != nil {
		return err
	}
	if len(healthy)+len(unhealthy) == 0 {
		return api.Errorf(api.CodeInvalid, "no allocation is named: name the healthy or the unhealthy allocations")
	}
	live := make(map[string]bool)
	for a := range r.AllocationsByJob(d.Namespace, d.JobID) {
		if a.DeploymentID == d.ID {
			live[a.ID] = !a.IsTerminal()
		}
	}
	for _, id := range slices.Concat(healthy, unhealthy) {
		switch running, ours := live[id]; {
		case !ours:
			return api.Errorf(api.CodeInvalid, "allocation %q is not part of deployment %s", id, api.ShortID(d.ID))
		case !running:
			return api.Errorf(api.CodeInvalid, "allocation %s of deployment %s has ended or is stopping: its health no longer counts", api.ShortID(id), api.ShortID(d.ID))
		case slices.Contains(healthy, id) && slices.Contains(unhealthy, id):
			return api.Errorf(api.CodeInvalid, "allocation %s is named as healthy and as unhealthy: name it once", api.ShortID(id))
		}
	}
	return nil
}

// Unblock returns an error unless the deployment is blocked. Only deployments of other
// regions block a deployment, and a cluster has one region.
func Unblock(d *api.Deployment) error {
	if err := checkActive(d); err != nil {
		return err
	}
	if d.Status != api.DeploymentBlocked {
		return api.Errorf(api.CodeInvalid, "deployment %s is not blocked: it is %s (%s)", api.ShortID(d.ID), d.Status, d.StatusDescription)
	}
	return nil
}

func checkActive(d *api.Deployment) error {
	if !d.IsActive() {
		return api.Errorf(api.CodeInvalid, "deployment %s has ended: it is %s (%s)", api.ShortID(d.ID), d.Status, d.StatusDescription)
	}
	return nil
}

func thoseThatWait(names []string) string {
	if len(names) == 0 {
		return "no group waits for promotion"
	}
	return "these wait for promotion: " + quoted(names)
}

func quoted(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(all, ", ")
}
