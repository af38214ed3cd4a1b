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
// it work on. The plans are to be released.
func derivePlans(r Reader, key api.NamespacedID, job *api.Job, eval *api.Evaluation, now time.Time) *plans {
	p := deriveDeploy(r, key, job, eval, now)
	m := p.scratch
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

// deriveDeploy derives only the plan deploy.
func deriveDeploy(r Reader, key api.NamespacedID, job *api.Job, eval *api.Evaluation, now time.Time) *plans {
	m := scratchPool.Get().(*scratch)
	p := &m.plans
	*p = plans{facts: newFacts(r, key, job, eval, now, &m.facts), scratch: m}
	p.dirty, p.trees = newDirtySet(p.instances, &m.tree), p.list[:0]
	var t *tree
	t, p.rollout = buildDeploy(p.facts, m)
	p.add(t)
	return p
}

// add chooses the steps of the next plan that run now; nil: it has nothing to do.
func (p *plans) add(t *tree) {
	if t == nil {
		return
	}
	t.selectCandidates(&p.dirty, &p.scratch.tree, p.now)
	p.trees = append(p.trees, t)
}

// instanceFlags returns a flag per number of an instance, all unset.
func (p *plans) instanceFlags() []bool { return p.scratch.tree.flagsFor(p.instances + 1) }

// release gives the memory of the plans to the next job. Nothing of the plans may
// be in use.
func (p *plans) release() { p.scratch.release() }
