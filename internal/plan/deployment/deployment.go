// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package deployment

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// HealthyCanaries counts the group's canaries that are well.
func HealthyCanaries(r facts.Reader, d *api.Deployment, group string) (n int) {
	for a := range r.AllocationsByJob(d.Namespace, d.JobID) {
		if a.Group == group && a.DeploymentID == d.ID && a.IsCanary() && a.IsHealthy() && !a.IsTerminal() && a.ClientStatus == api.AllocClientRunning {
			n++
		}
	}
	return n
}

// WaitingGroups are those whose canaries wait for promotion.
func WaitingGroups(d *api.Deployment) (names []string) {
	for _, name := range GroupNames(d) {
		if g := d.Groups[name]; g.DesiredCanaries > 0 && !g.Promoted {
			names = append(names, name)
		}
	}
	return names
}

func GroupNames(d *api.Deployment) (names []string) {
	for name := range d.Groups {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Standing says how an active deployment stands.
func Standing(d *api.Deployment) api.Reason {
	waiting := WaitingGroups(d)
	for _, name := range waiting {
		if !d.Groups[name].AutoPromote {
			return api.ReasonDeploymentNeedsPromotion
		}
	}
	if len(waiting) > 0 {
		return api.ReasonDeploymentAutoPromotes
	}
	return api.ReasonDeploymentRunning
}
