// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A decisionRow is a decision. The job's row lists its decisions in order.
type decisionRow struct {
	decision *api.Decision
	job      uint32
}

// Decision returns the decision of that id; nil if it does not exist.
func (c *content) Decision(id string) *api.Decision {
	if r := c.decisions.find(id); r != nil {
		return r.decision
	}
	return nil
}

// Decisions returns the operators' decisions about a job's plans and instances that may
// still matter, oldest first. The slice is shared.
func (c *content) Decisions(namespace, id string) []*api.Decision {
	if r := c.job(namespace, id); r != nil {
		return r.decisions
	}
	return nil
}

// AllDecisions yields all kept decisions, ordered by id.
func (c *content) AllDecisions() iter.Seq[*api.Decision] {
	return func(yield func(*api.Decision) bool) {
		c.decisions.prefix("", func(_ string, r *decisionRow) bool { return yield(r.decision) })
	}
}

// Decided returns the index of the last operator decision about the job's plans. A
// placement with an older snapshot does not include the decision.
func (c *content) Decided(namespace, id string) uint64 {
	if r := c.job(namespace, id); r != nil {
		return r.decided
	}
	return 0
}

// putDecision stores a new decision and deletes those that no longer matter.
func (t *txn) putDecision(d *api.Decision) {
	jobSlot, job := t.editJob(d.Namespace, d.JobID)
	stored := *d
	stored.CreateIndex = t.index
	_, row := t.decisions.ensure(t.gen, stored.ID)
	row.decision, row.job = &stored, jobSlot
	all := append(slices.Clip(job.decisions), &stored)
	job.decided = t.index
	t.emit(TableDecisions, Put, nil, &stored)
	job.decisions = t.prune(job, all)
}

// prune returns the job's decisions to keep and deletes the others.
func (t *txn) prune(job *jobRow, all []*api.Decision) []*api.Decision {
	if len(all) <= decisionsKept {
		return all
	}
	spare := spareDecisions(all, job.job, latestRestart(job.restarts))
	if len(spare) == 0 {
		return all
	}
	kept := make([]*api.Decision, 0, len(all)-len(spare))
	for i, d := range all {
		if spare[i] {
			t.dropDecision(d)
		} else {
			kept = append(kept, d)
		}
	}
	return kept
}

// forgetDecisions deletes all decisions of a job.
func (t *txn) forgetDecisions(job *jobRow) {
	for _, d := range job.decisions {
		t.dropDecision(d)
	}
	job.decisions, job.decided = nil, 0
}

func (t *txn) dropDecision(d *api.Decision) {
	if slot, ok := t.decisions.ids.get(d.ID); ok {
		t.decisions.remove(t.gen, d.ID, slot)
		t.emit(TableDecisions, Delete, d, nil)
	}
}

func (l *loader) loadDecisions(slot uint32, job *jobRow, decisions []*api.Decision) error {
	for _, d := range decisions {
		if d == nil || d.Namespace != job.namespace || d.JobID != job.id {
			return fmt.Errorf("job %q has a decision that is not its own", job.id)
		}
		_, row := l.decisions.ensure(l.gen, d.ID)
		if row.decision != nil {
			return fmt.Errorf("decision %s occurs twice", d.ID)
		}
		row.decision, row.job = d, slot
	}
	job.decisions = decisions
	l.seen.Decisions += len(decisions)
	return nil
}
