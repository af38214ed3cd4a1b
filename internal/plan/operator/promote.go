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

// Promote returns the deployment as it is once the canaries of the groups are
// promoted; of all that have canaries, if none is named. It is refused as long as
// a canary is not healthy: what is promoted takes the place of something that is.
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

// CheckHealth says whether somebody may set the health of these allocations: all
// have to be live ones of the deployment.
func CheckHealth(r facts.Reader, d *api.Deployment, healthy, unhealthy []string) error {
	if err := checkActive(d); err != nil {
		return err
	}
	if len(healthy)+len(unhealthy) == 0 {
		return api.Errorf(api.CodeInvalid, "no allocation is named: say which are healthy, and which are not")
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
			return api.Errorf(api.CodeInvalid, "allocation %s of deployment %s has ended, or was told to: its health does not count any more", api.ShortID(id), api.ShortID(d.ID))
		case slices.Contains(healthy, id) && slices.Contains(unhealthy, id):
			return api.Errorf(api.CodeInvalid, "allocation %s cannot be healthy and unhealthy at once", api.ShortID(id))
		}
	}
	return nil
}

// Unblock refuses: deployments are blocked only by those of other regions, which
// there are none of.
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
		return "nothing waits for promotion"
	}
	return "what waits for promotion is " + quoted(names)
}

func quoted(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(all, ", ")
}
