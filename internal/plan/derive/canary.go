// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"fmt"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// Canaries are instances of the newest version that run before anything of the
// older ones is touched, so that somebody can look at them (update.canary).
//
//   - A service's run beside the older instances, under the names 0 to n-1. Until
//     they are promoted they hold no place: [api.Allocation.IsCanary] is how they are
//     told apart. Promotion takes that mark away. Then a canary holds its place, and
//     the older allocation of that place, being outdone, is stopped.
//   - A job that runs on every node has one instance on each, so its canaries take
//     the places of older ones, on a share of the nodes (update.canary percent).
//
// Canaries are for what serves: where nothing older does, as in a first
// deployment, there are none; and none for a revert, which has to be quick and
// goes to what has proved itself. While a group waits for promotion, only its
// canaries are worked on by the deploy plan, whatever the order of groups: they
// take nothing away, and auto_promote waits for those of all groups.
//
// Canaries of a version that differs in nothing that runs (the job was scaled,
// say) go on as canaries of the new one. All others are stopped, as they are when
// the deployment has failed.

const (
	whyPromotable   = "healthy; waits for promotion: reeve deployment promote %s"
	whyPromotesAuto = "healthy; is promoted when the canaries of every group are"
	whyUnpromoted   = "waits until the canaries are promoted"
)

// addCanaries puts a phase for the canaries of each group that waits for
// promotion before all others, which do nothing meanwhile.
func (d *deployer) addCanaries(t *tree.Tree, spec *api.PlanSpec) {
	var canaries []*tree.Phase
	seen := make(map[*facts.Group]bool)
	for _, p := range t.Phases {
		g := p.Group
		if !g.Unpromoted {
			continue
		}
		if !seen[g] {
			seen[g] = true
			canaries = append(canaries, d.canaryPhase(g, spec))
		}
		d.blockPhase(t, p)
	}
	if len(canaries) > 0 {
		t.Phases = append(canaries, t.Phases...)
	}
}

// canaryPhase derives the phase of a group's canaries.
func (d *deployer) canaryPhase(g *facts.Group, spec *api.PlanSpec) *tree.Phase {
	p := &tree.Phase{Name: g.Name + "-canaries", Group: g, Strategy: api.StrategyParallel, Rolling: true, Canaries: true}
	if g.Everywhere { // others are beside the older ones, and take nothing away
		if p.Limit = d.limitOf(g); p.Limit > 0 {
			p.Strategy = api.StrategySerial
		}
	}
	var c *groupStages
	if spec != nil {
		c = groupStagesOf(d.Job, spec, g)
	}
	for in := range g.Every {
		if !in.Canary {
			continue
		}
		var whole tree.Step
		d.deployStep(&whole, in, d.Stands)
		first := len(p.Steps)
		if c != nil {
			for k, course := 0, c.of(in.Index); k < len(course); k++ {
				p.Steps = append(p.Steps, d.stageStep(in, course, k, whole))
			}
		}
		if len(p.Steps) == first {
			p.Steps = append(p.Steps, whole)
		}
		if last := &p.Steps[len(p.Steps)-1]; last.Status == tree.Complete && !slices.ContainsFunc(p.Steps[first:], func(st tree.Step) bool { return st.Status != tree.Complete }) {
			last.Status, last.Why = tree.Waiting, d.whyWaiting(g)
		}
	}
	return p
}

// blockPhase has a phase of a group that waits for promotion do nothing, and say why.
func (d *deployer) blockPhase(t *tree.Tree, p *tree.Phase) {
	p.Unpromoted = true
	if p.Group.Everywhere && !t.Literal {
		p.Steps = slices.DeleteFunc(p.Steps, func(st tree.Step) bool { return st.On.Canary })
	}
	for i := range p.Steps {
		if st := &p.Steps[i]; st.Status == tree.Pending && st.Why == "" {
			st.Why = whyUnpromoted
		}
	}
}

func (d *deployer) whyWaiting(g *facts.Group) string {
	if opt.Of(g.Def.Update.AutoPromote) {
		return whyPromotesAuto
	}
	id := "DEPLOYMENT"
	if d.DeploysCurrent(d.Deployment) {
		id = api.ShortID(d.Deployment.ID)
	}
	return fmt.Sprintf(whyPromotable, id)
}
