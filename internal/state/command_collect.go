// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// Collect deletes garbage. It skips objects that no longer exist or are no longer garbage.
type Collect struct {
	Evaluations []string
	Allocations []string
	Deployments []string
	Jobs        []api.NamespacedID
	Nodes       []string
	Restarts    []string
}

// Name implements Command.
func (c *Collect) Name() string { return "Collect" }

func (c *Collect) apply(t *txn) error {
	for _, id := range c.Allocations {
		if a := t.Allocation(id); a != nil && a.IsTerminal() {
			t.deleteAllocation(id)
		}
	}
	for _, id := range c.Evaluations {
		if e := t.Evaluation(id); e != nil && e.IsTerminal() {
			t.deleteEvaluation(id)
		}
	}
	for _, id := range c.Deployments {
		if d := t.Deployment(id); d != nil && !d.IsActive() {
			t.deleteDeployment(id)
		}
	}
	for _, id := range c.Restarts {
		if r := t.Restart(id); r != nil && !r.IsActive() {
			t.deleteRestart(id)
		}
	}
	for _, key := range c.Jobs {
		if r := t.job(key.Namespace, key.ID); r != nil && r.job != nil && r.live+r.open == 0 && r.status() == api.JobStatusDead {
			t.deleteJob(key.Namespace, key.ID)
		}
	}
	for _, id := range c.Nodes {
		if n := t.Node(id); n != nil && n.IsGone() {
			t.deleteNode(id)
		}
	}
	return nil
}
