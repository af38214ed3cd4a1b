// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// Plans holds the plans of a job at one moment, in the order of their priority,
// and the results that other packages need.
type Plans struct {
	*facts.Facts
	scratch *scratch
	Trees   []*tree.Tree
	Rollout *Rollout
	Restart *Restart // nil: the job has none
	Dirty   tree.DirtySet
	list    [4]*tree.Tree // room for the trees of most jobs
}

// All derives all plans of a job, and chooses the steps that run now. A
// plan that has nothing to do is left out. Each plan respects what the plans before
// it work on. The plans are to be released.
func All(r facts.Reader, key api.NamespacedID, job *api.Job, eval *api.Evaluation, now time.Time) *Plans {
	p := DeployOnly(r, key, job, eval, now)
	m := p.scratch
	p.add(buildRecovery(p.Rollout, &p.Dirty, m))
	p.add(buildDecommission(p.Facts, m))
	p.add(buildUninstall(p.Facts, m))
	if p.Restart = buildRestart(p.Rollout, &p.Dirty); p.Restart != nil {
		p.add(p.Restart.Tree)
	}
	p.add(buildDrain(p.Rollout, &p.Dirty))
	for _, t := range buildCustom(p.Facts, m) {
		p.add(t)
	}
	return p
}

// DeployOnly derives only the plan deploy.
func DeployOnly(r facts.Reader, key api.NamespacedID, job *api.Job, eval *api.Evaluation, now time.Time) *Plans {
	m := scratchPool.Get().(*scratch)
	p := &m.plans
	*p = Plans{Facts: facts.New(r, key, job, eval, now, &m.facts), scratch: m}
	p.Dirty, p.Trees = tree.NewDirtySet(p.Instances, &m.tree), p.list[:0]
	var t *tree.Tree
	t, p.Rollout = buildDeploy(p.Facts, m)
	p.add(t)
	return p
}

// add chooses the steps of the next plan that run now; nil: it has nothing to do.
func (p *Plans) add(t *tree.Tree) {
	if t == nil {
		return
	}
	t.SelectCandidates(&p.Dirty, &p.scratch.tree, p.Now)
	p.Trees = append(p.Trees, t)
}

// InstanceFlags returns a flag per number of an instance, all unset.
func (p *Plans) InstanceFlags() []bool { return p.scratch.tree.FlagsFor(p.Instances + 1) }

// Release gives the memory of the plans to the next job. Nothing of the plans may
// be in use.
func (p *Plans) Release() { p.scratch.release() }
