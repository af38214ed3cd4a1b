// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// An allocationRow is an allocation and its position in the indexes: the rows that it
// refers to, and its position in their lists.
type allocationRow struct {
	allocation *api.Allocation
	job        uint32
	node       uint32
	evaluation uint32
	deployment uint32 // only if the allocation has a deployment
	inJob      uint32
	inNode     uint32
	inEval     uint32
	inDeploy   uint32
}

// Allocation returns the allocation of that id; nil if it does not exist.
func (c *content) Allocation(id string) *api.Allocation {
	if r := c.allocations.find(id); r != nil {
		return r.allocation
	}
	return nil
}

// AllocationCount returns the number of allocations.
func (c *content) AllocationCount() int { return c.allocations.ids.len() }

// Allocations yields all allocations, ordered by id.
func (c *content) Allocations() iter.Seq[*api.Allocation] { return c.AllocationsPrefix("") }

// AllocationsPrefix yields the allocations whose id begins with prefix, ordered
// by id.
func (c *content) AllocationsPrefix(prefix string) iter.Seq[*api.Allocation] {
	return func(yield func(*api.Allocation) bool) {
		c.allocations.prefix(prefix, func(_ string, r *allocationRow) bool { return yield(r.allocation) })
	}
}

// AllocationsByJob yields a job's allocations, in no particular order.
func (c *content) AllocationsByJob(namespace, id string) iter.Seq[*api.Allocation] {
	if r := c.job(namespace, id); r != nil {
		return c.allocationsAt(r.allocations)
	}
	return none[*api.Allocation]
}

// AllocationsByNode yields a node's allocations, in no particular order.
func (c *content) AllocationsByNode(id string) iter.Seq[*api.Allocation] {
	if r := c.nodes.find(id); r != nil {
		return c.allocationsAt(r.allocations)
	}
	return none[*api.Allocation]
}

// AllocationsByEval yields the allocations that an evaluation created or last changed, in
// no particular order.
func (c *content) AllocationsByEval(id string) iter.Seq[*api.Allocation] {
	if r := c.evaluations.find(id); r != nil {
		return c.allocationsAt(r.allocations)
	}
	return none[*api.Allocation]
}

// AllocationsByDeployment yields a deployment's allocations, in no particular
// order.
func (c *content) AllocationsByDeployment(id string) iter.Seq[*api.Allocation] {
	if r := c.deployments.find(id); r != nil {
		return c.allocationsAt(r.allocations)
	}
	return none[*api.Allocation]
}

func (c *content) allocationsAt(l list) iter.Seq[*api.Allocation] {
	return func(yield func(*api.Allocation) bool) {
		for _, slot := range l.slots {
			if !yield(c.allocations.rows.at(slot).allocation) {
				return
			}
		}
	}
}

// none yields nothing.
func none[T any](func(T) bool) {}

// putAllocation stores a new allocation, or a new state of a stored one.
func (t *txn) putAllocation(a *api.Allocation) {
	slot, row := t.allocations.ensure(t.gen, a.ID)
	old := row.allocation
	row.allocation = a
	if old == nil {
		t.linkAllocation(slot, row)
	} else if old.NodeID != a.NodeID || old.EvalID != a.EvalID || old.DeploymentID != a.DeploymentID || old.JobKey() != a.JobKey() {
		t.unlinkAllocation(row, old)
		t.linkAllocation(slot, row)
	}
	job := t.editJobAt(row.job)
	if old != nil {
		job.count(old, -1)
	}
	job.count(a, +1)
	job.summarized = t.index
	t.countHealth(old, a)
	t.countOrphans(old, a)
	t.meter(old, a)
	t.emit(TableAllocations, Put, orNil(old), a)
	t.markDirty(row.job)
}

// deleteAllocation deletes an allocation.
func (t *txn) deleteAllocation(id string) {
	slot, ok := t.allocations.ids.get(id)
	if !ok {
		return
	}
	row := t.allocations.rows.edit(t.gen, slot)
	old := row.allocation
	job := t.editJobAt(row.job)
	job.count(old, -1)
	job.summarized = t.index
	t.markDirty(row.job)
	t.unlinkAllocation(row, old)
	t.allocations.remove(t.gen, id, slot)
	t.countOrphans(old, nil)
	t.meter(old, nil)
	t.emit(TableAllocations, Delete, old, nil)
}

// linkAllocation adds the row to the lists of the rows that it refers to.
func (t *txn) linkAllocation(slot uint32, row *allocationRow) {
	a := row.allocation
	var job *jobRow
	row.job, job = t.editJob(a.Namespace, a.JobID)
	row.inJob = job.allocations.add(slot)
	var node *nodeRow
	row.node, node = t.nodes.ensure(t.gen, a.NodeID)
	row.inNode = node.allocations.add(slot)
	share(a, job, node.node)
	var evaluation *evaluationRow
	row.evaluation, evaluation = t.evaluations.ensure(t.gen, a.EvalID)
	row.inEval = evaluation.allocations.add(slot)
	if a.DeploymentID != "" {
		var deployment *deploymentRow
		row.deployment, deployment = t.deployments.ensure(t.gen, a.DeploymentID)
		row.inDeploy = deployment.allocations.add(slot)
	}
}

// share replaces the strings of a new allocation with equal strings of its job and node.
// Otherwise, each string would be a separate object for the garbage collector to mark.
// node may be nil.
func share(a *api.Allocation, job *jobRow, node *api.Node) {
	a.Namespace, a.JobID = job.namespace, job.id
	if node != nil {
		a.NodeID = node.ID
		if a.NodeName == node.Name {
			a.NodeName = node.Name
		}
	}
	if a.Job != nil {
		if g := a.Job.Group(a.Group); g != nil {
			a.Group = g.Name
		}
	}
	switch a.DesiredStatus {
	case api.AllocDesiredRun:
		a.DesiredStatus = api.AllocDesiredRun
	case api.AllocDesiredStop:
		a.DesiredStatus = api.AllocDesiredStop
	}
	switch a.ClientStatus {
	case api.AllocClientPending:
		a.ClientStatus = api.AllocClientPending
	case api.AllocClientRunning:
		a.ClientStatus = api.AllocClientRunning
	case api.AllocClientComplete:
		a.ClientStatus = api.AllocClientComplete
	}
}

// unlinkAllocation removes the row from the lists that it joined as old, and drops the
// rows that only it kept.
func (t *txn) unlinkAllocation(row *allocationRow, old *api.Allocation) {
	job := t.editJobAt(row.job)
	if moved, ok := job.allocations.remove(t.gen, row.inJob); ok {
		t.allocations.rows.edit(t.gen, moved).inJob = row.inJob
	}
	t.dropJob(row.job)
	node := t.nodes.rows.edit(t.gen, row.node)
	if moved, ok := node.allocations.remove(t.gen, row.inNode); ok {
		t.allocations.rows.edit(t.gen, moved).inNode = row.inNode
	}
	t.dropNode(old.NodeID, row.node)
	evaluation := t.evaluations.rows.edit(t.gen, row.evaluation)
	if moved, ok := evaluation.allocations.remove(t.gen, row.inEval); ok {
		t.allocations.rows.edit(t.gen, moved).inEval = row.inEval
	}
	t.dropEvaluation(old.EvalID, row.evaluation)
	if old.DeploymentID == "" {
		return
	}
	deployment := t.deployments.rows.edit(t.gen, row.deployment)
	if moved, ok := deployment.allocations.remove(t.gen, row.inDeploy); ok {
		t.allocations.rows.edit(t.gen, moved).inDeploy = row.inDeploy
	}
	t.dropDeployment(old.DeploymentID, row.deployment)
}
