// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package deployment

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// Descriptions of how a deployment stands, as users read them.
const (
	describeRunning    = "Deployment is running"
	describeManual     = "Deployment is running but requires manual promotion"
	describeAuto       = "Deployment is running pending automatic promotion"
	DescribePaused     = "Deployment is paused"
	DescribeSuccessful = "Deployment completed successfully"
	DescribeNewer      = "Cancelled due to newer version of job"
	DescribeStopped    = "Cancelled because job is stopped"
	describeDeadline   = "Failed due to progress deadline"
	describeExhausted  = "Failed because an instance failed too often"
)

// FailedUnhealthy describes a deployment that failed for an unhealthy allocation.
const FailedUnhealthy = "Failed due to unhealthy allocations"

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
func Standing(d *api.Deployment) string {
	waiting := WaitingGroups(d)
	for _, name := range waiting {
		if !d.Groups[name].AutoPromote {
			return describeManual
		}
	}
	if len(waiting) > 0 {
		return describeAuto
	}
	return describeRunning
}
