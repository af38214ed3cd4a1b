// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A deploymentRow is a deployment and its allocations. It outlives a deleted deployment
// while it has allocations.
type deploymentRow struct {
	deployment  *api.Deployment
	allocations list
	job         uint32 // set only with a deployment
	inJob       uint32
}

// Deployment returns the deployment of that id; nil if it does not exist.
func (c *content) Deployment(id string) *api.Deployment {
	if r := c.deployments.find(id); r != nil {
		return r.deployment
	}
	return nil
}

// Deployments yields all deployments, ordered by id.
func (c *content) Deployments() iter.Seq[*api.Deployment] { return c.DeploymentsPrefix("") }

// DeploymentsPrefix yields the deployments whose id begins with prefix, ordered
// by id.
func (c *content) DeploymentsPrefix(prefix string) iter.Seq[*api.Deployment] {
	return func(yield func(*api.Deployment) bool) {
		c.deployments.prefix(prefix, func(_ string, r *deploymentRow) bool {
			return r.deployment == nil || yield(r.deployment)
		})
	}
}

// DeploymentsByJob yields a job's deployments, newest first.
func (c *content) DeploymentsByJob(namespace, id string) iter.Seq[*api.Deployment] {
	r := c.job(namespace, id)
	if r == nil || r.deployments.len() == 0 {
		return none[*api.Deployment]
	}
	deployments := make([]*api.Deployment, r.deployments.len())
	for i, slot := range r.deployments.slots {
		deployments[i] = c.deployments.rows.at(slot).deployment
	}
	slices.SortFunc(deployments, newestFirst)
	return slices.Values(deployments)
}

// LatestDeployment returns a job's newest deployment, nil if it has none.
func (c *content) LatestDeployment(namespace, id string) *api.Deployment {
	r := c.job(namespace, id)
	if r == nil {
		return nil
	}
	var latest *api.Deployment
	for _, slot := range r.deployments.slots {
		if d := c.deployments.rows.at(slot).deployment; latest == nil || newestFirst(d, latest) < 0 {
			latest = d
		}
	}
	return latest
}

func newestFirst(a, b *api.Deployment) int {
	switch {
	case a.CreateIndex > b.CreateIndex:
		return -1
	case a.CreateIndex < b.CreateIndex:
		return 1
	case a.ID < b.ID: // created by one entry: any stable order is correct
		return -1
	case a.ID > b.ID:
		return 1
	}
	return 0
}

func (t *txn) putDeployment(d *api.Deployment) {
	slot, row := t.deployments.ensure(t.gen, d.ID)
	old := row.deployment
	row.deployment = d
	if old == nil {
		var job *jobRow
		row.job, job = t.editJob(d.Namespace, d.JobID)
		row.inJob = job.deployments.add(slot)
	}
	t.emit(TableDeployments, Put, orNil(old), d)
}

func (t *txn) deleteDeployment(id string) {
	slot, ok := t.deployments.ids.get(id)
	if !ok {
		return
	}
	row := t.deployments.rows.edit(t.gen, slot)
	if old := row.deployment; old != nil {
		job := t.editJobAt(row.job)
		if moved, ok := job.deployments.remove(t.gen, row.inJob); ok {
			t.deployments.rows.edit(t.gen, moved).inJob = row.inJob
		}
		t.dropJob(row.job)
		row.deployment = nil
		t.emit(TableDeployments, Delete, old, nil)
	}
	t.dropDeployment(id, slot)
}

// dropDeployment removes a deployment's row when nothing refers to it any more.
func (t *txn) dropDeployment(id string, slot uint32) {
	if r := t.deployments.rows.at(slot); r.deployment == nil && r.allocations.len() == 0 {
		t.deployments.remove(t.gen, id, slot)
	}
}
