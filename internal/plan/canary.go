// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/reeve-run/reeve/api"
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

// canaryCount is how many canaries the group has until they are promoted.
func (s *sorter) canaryCount(g *group) int {
	switch d := s.deployment; {
	case !g.rolling || !s.wanted() || of(g.def.Update.Canary) <= 0 || len(g.instances) == 0:
		return 0
	case !s.deploysCurrent(d):
		return s.canariesNeeded(g)
	case !d.IsActive() || d.Groups[g.name] == nil || d.Groups[g.name].Promoted:
		return 0
	default:
		return d.Groups[g.name].DesiredCanaries
	}
}

// canariesNeeded is how many canaries a deployment of the newest version has to
// begin with.
func (s *sorter) canariesNeeded(g *group) int {
	old := false
	for i := range g.instances {
		switch in := &g.instances[i]; {
		case in.alloc == nil || !in.isProved() || !s.knows(in.alloc):
		case s.outdated(g, in.alloc):
			old = true
		default:
			return 0 // what the newest version says has been promoted before
		}
	}
	if !old || s.reverts() {
		return 0
	}
	n := *g.def.Update.Canary
	if g.everywhere {
		return share(n, g.open)
	}
	return min(n, len(g.instances))
}

// share is a percentage of so many, rounded up.
func share(percent, of int) int { return (min(percent, 100)*of + 99) / 100 }

// isProved reports whether the instance serves, or would if its node did.
func (i *instance) isProved() bool {
	switch i.state {
	case unknown, lost, moving:
		return !i.alloc.IsUnhealthy()
	}
	return i.serves()
}

// findCanaries gives the group its canaries, once its other instances are known.
func (s *sorter) findCanaries(g *group) {
	n := s.canaryCount(g)
	g.unpromoted = n > 0
	if g.everywhere {
		s.chooseNodes(g, n)
		g.unpromoted = g.unpromoted && (s.deploysCurrent(s.deployment) || g.countCanaries() > 0)
		return
	}
	if n > 0 {
		g.canaries = make([]instance, n)
	}
	for i := range g.canaries {
		g.canaries[i] = instance{group: g, index: i, canary: true}
	}
	var claims map[int][]*api.Allocation
	for _, a := range g.beside {
		switch i := a.Index(); {
		case i < 0 || i >= n || s.outdated(g, a):
			if !a.IsServerTerminal() { // also one that has ended: nobody comes after it
				g.excess = append(g.excess, departure{g, a, s.whyUnwanted(g)})
			}
		case !a.IsServerTerminal():
			note(&claims, i, append(claims[i], a))
		case a.DeploymentID == s.deployment.ID && newer(a, g.canaries[i].last):
			g.canaries[i].last = a
		}
	}
	for i, all := range claims {
		if in := &g.canaries[i]; len(all) == 1 {
			in.alloc = all[0]
		} else {
			s.resolveClaims(in, all)
		}
	}
	s.classify(g.canaries)
}

// whyUnwanted is why a canary is stopped; 0 if that follows from elsewhere.
func (s *sorter) whyUnwanted(g *group) api.Reason {
	if g.def == nil || !s.wanted() {
		return 0
	}
	return api.ReasonUnpromoted
}

// chooseNodes marks the instances of a job that runs on every node that are its
// canaries: those that were made so, then others of an older version.
func (s *sorter) chooseNodes(g *group, n int) {
	for i := range g.instances {
		if in := &g.instances[i]; n > 0 && s.isBegun(in) {
			in.canary = true
			n--
		}
	}
	for i := range g.instances {
		if in := &g.instances[i]; n > 0 && !in.canary && !in.closed && in.isThere() && s.outdated(g, in.alloc) {
			in.canary = true
			n--
		}
	}
}

// isThere reports whether the instance's allocation runs, or begins to.
func (i *instance) isThere() bool { return i.state == placed || i.state == running }

// isBegun reports whether the place of an older version was taken by, or made
// free for, a canary of the newest one.
func (s *sorter) isBegun(in *instance) bool {
	switch {
	case in.alloc != nil:
		return in.alloc.IsCanary() && s.isCurrent(in.alloc)
	case in.last == nil:
		return false
	}
	return in.last.IsCanary() && s.isCurrent(in.last) || s.isMissed(in) && in.last.DesiredReason == api.ReasonUpdated
}

// addCanaries puts a phase for the canaries of each group that waits for
// promotion before all others, which do nothing meanwhile.
func (s *deployer) addCanaries(t *tree, spec *api.PlanSpec) {
	var canaries []*phase
	seen := make(map[*group]bool)
	for _, p := range t.phases {
		g := p.group
		if !g.unpromoted {
			continue
		}
		if !seen[g] {
			seen[g] = true
			canaries = append(canaries, s.canaryPhase(g, spec))
		}
		s.blockPhase(t, p)
	}
	if len(canaries) > 0 {
		t.phases = append(canaries, t.phases...)
	}
}

// canaryPhase derives the phase of a group's canaries.
func (s *deployer) canaryPhase(g *group, spec *api.PlanSpec) *phase {
	p := &phase{name: g.name + "-canaries", group: g, strategy: api.StrategyParallel, rolling: true, canaries: true}
	if g.everywhere { // others are beside the older ones, and take nothing away
		if p.limit = s.limitOf(g); p.limit > 0 {
			p.strategy = api.StrategySerial
		}
	}
	var c *groupStages
	if spec != nil {
		c = groupStagesOf(s.job, spec, g)
	}
	for in := range g.every {
		if !in.canary {
			continue
		}
		var whole step
		s.deployStep(&whole, in, s.stands)
		first := len(p.steps)
		if c != nil {
			for k, course := 0, c.of(in.index); k < len(course); k++ {
				p.steps = append(p.steps, s.stageStep(in, course, k, whole))
			}
		}
		if len(p.steps) == first {
			p.steps = append(p.steps, whole)
		}
		if last := &p.steps[len(p.steps)-1]; last.status == Complete && !slices.ContainsFunc(p.steps[first:], func(st step) bool { return st.status != Complete }) {
			last.status, last.why = Waiting, s.whyWaiting(g)
		}
	}
	return p
}

// blockPhase has a phase of a group that waits for promotion do nothing, and say why.
func (s *deployer) blockPhase(t *tree, p *phase) {
	p.unpromoted = true
	if p.group.everywhere && !t.literal {
		p.steps = slices.DeleteFunc(p.steps, func(st step) bool { return st.on.canary })
	}
	for i := range p.steps {
		if st := &p.steps[i]; st.status == Pending && st.why == "" {
			st.why = whyUnpromoted
		}
	}
}

// countCanaries is how many canaries the group has.
func (g *group) countCanaries() (n int) {
	for in := range g.every {
		if in.canary {
			n++
		}
	}
	return n
}

// isMoving reports whether anything of the phase is under way, or to be begun
// now.
func (p *phase) isMoving() bool {
	for i := range p.steps {
		if st := &p.steps[i]; st.next || st.action == none && st.blocked == none && st.status != Complete && st.status != Waiting {
			return true
		}
	}
	return false
}

func (s *deployer) whyWaiting(g *group) string {
	if of(g.def.Update.AutoPromote) {
		return whyPromotesAuto
	}
	id := "DEPLOYMENT"
	if s.deploysCurrent(s.deployment) {
		id = api.ShortID(s.deployment.ID)
	}
	return fmt.Sprintf(whyPromotable, id)
}

// areHealthy reports whether all of the phase's canaries wait for nothing but
// promotion.
func (p *phase) areHealthy() bool {
	for i := range p.steps {
		if is := p.steps[i].status; is != Waiting && is != Complete {
			return false
		}
	}
	return true
}

// promotable are the groups that are promoted by themselves, if the canaries of
// every group are healthy: as Promote counts them, for which those that somebody
// called healthy also have to run.
func promotable(r Reader, phases []*phase, d *api.Deployment) (groups []string) {
	for _, p := range phases {
		switch {
		case !p.canaries:
		case !p.areHealthy(), healthyCanaries(r, d, p.group.name) < d.Groups[p.group.name].DesiredCanaries:
			return nil
		case d.Groups[p.group.name].AutoPromote:
			groups = append(groups, p.group.name)
		}
	}
	return groups
}

// canaryStatus marks an allocation as a canary.
func canaryStatus(s *api.AllocDeploymentStatus) *api.AllocDeploymentStatus {
	c := api.AllocDeploymentStatus{Canary: true}
	if s != nil {
		c.Healthy, c.Timestamp = s.Healthy, s.Timestamp
	}
	return &c
}
