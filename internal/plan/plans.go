// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// plans holds the plans of a job at one moment, in the order of their priority,
// and what was found while they were derived.
type plans struct {
	*facts
	scratch *scratch
	trees   []*tree
	rollout *rollout
	restart *restarting // nil: the job has none
	dirty   dirtySet
	list    [4]*tree // room for the trees of most jobs
}

// derivePlans derives all plans of a job, and chooses the steps that run now. A
// plan that has nothing to do is left out. Each plan respects what the plans before
// it work on.
func derivePlans(r Reader, key api.NamespacedID, job *api.Job, eval *api.Evaluation, now time.Time, m *scratch) *plans {
	p := m.newPlans()
	*p = plans{facts: newFacts(r, key, job, eval, now, m), scratch: m}
	p.dirty, p.trees = newDirtySet(p.facts, m), p.list[:0]
	var t *tree
	t, p.rollout = buildDeploy(p.facts, m)
	p.add(t)
	p.add(buildRecovery(p.rollout, &p.dirty, m))
	p.add(buildDecommission(p.facts, m))
	p.add(buildUninstall(p.facts, m))
	if p.restart = buildRestart(p.rollout, &p.dirty); p.restart != nil {
		p.add(p.restart.tree)
	}
	p.add(buildDrain(p.rollout, &p.dirty))
	for _, t := range buildCustom(p.facts, m) {
		p.add(t)
	}
	return p
}

// add chooses the steps of the next plan that run now; nil: it has nothing to do.
func (p *plans) add(t *tree) {
	if t == nil {
		return
	}
	t.selectCandidates(&p.dirty, p.scratch, p.now)
	p.trees = append(p.trees, t)
}
