// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// This file is the one place that decides how many steps of a generated deploy
// plan may be done at a time, and when a group's turn comes.
//
// Both max_parallel and the order of groups exist to protect instances that
// serve. Taking them literally where nothing serves would make the first
// deployment of a thousand instances with the default max_parallel of 1 take a
// thousand times min_healthy_time, and protect nobody. So:
//
//  1. A step that only adds an instance is not limited by max_parallel. So the
//     first deployment of a job starts every instance of every group at once.
//     A job that wants its first deployment in order declares the plan "deploy".
//  2. A step that takes one away (it replaces an allocation of an older version)
//     is limited: the instances that are being moved or added, and are not
//     complete, are at most max_parallel. An instance that has failed goes first,
//     within the limit. Where no version of the job was ever deployed, the limit
//     holds only while an instance of an older version serves.
//     Where the newest version is one that has proved itself before, instances that
//     fail are replaced at once, whatever the limit: nobody is served by them.
//     So is one that changes in place what an instance is asked (proof.go): the first
//     instance alone has to be found healthy, then those that follow are limited.
//  3. Where the newest version replaces what was deployed, groups are updated in
//     declared order: a group begins when the ones before it are complete (healthy).
//     A group that has begun and waits for room goes on waiting for it, whatever
//     happens to those before.
//
// Groups without deployment (batch jobs, max_parallel = 0) know no limit and
// wait for nobody.

// limitOf returns how many steps of the group may be under way at a time; 0 is
// no limit.
func (s *deployer) limitOf(g *group) int {
	if !g.rolling || !s.updates(g) && !s.atRisk(g) {
		return 0
	}
	return maxParallel(g)
}

// maxParallel is what the group's update block says.
func maxParallel(g *group) int {
	u := g.def.Update
	return api.ShareOf(*u.MaxParallel, of(u.MaxParallelPercent), len(g.instances))
}

// updates reports whether the deployment of the newest version replaces what was
// deployed of the group. That does not change while it is being deployed.
func (s *deployer) updates(g *group) bool { return !s.hasEnded() && s.replacesDeployed(g) }

// atRisk reports whether an instance of an older version of the group serves
// and will have to be taken away, or to prove itself.
func (s *deployer) atRisk(g *group) bool {
	for i := range g.instances {
		if in := &g.instances[i]; in.serves() && !s.isCurrent(in.alloc) && (s.destructive(g, in.alloc) || s.proves(g, in.alloc) && isAnswering(in.alloc)) {
			return true
		}
	}
	return false
}

// openPhases sets which phases of a generated plan may begin.
func (s *deployer) openPhases(phases []*phase) {
	ordered := slices.ContainsFunc(phases, func(p *phase) bool {
		return p.rolling && (s.updates(p.group) || !s.hasEnded() && s.changesChecks(p.group))
	})
	open := true
	for _, p := range phases {
		if !p.rolling || p.canaries {
			p.open = true
			continue
		}
		p.open = (open || s.waitsForRoom(p.group)) && !p.unpromoted
		open = open && (!ordered || p.isComplete())
	}
}

// waitsForRoom reports whether instances of the group, as the newest version has
// it, were found to have no room. It is false while an instance is to be recovered
// at an older version: that may be the one that has no room.
func (s *deployer) waitsForRoom(g *group) bool {
	e := s.r.BlockedEvaluation(s.key.Namespace, s.key.ID)
	if e == nil || e.SnapshotIndex < s.job.JobModifyIndex || e.QueuedAllocations[g.name] == 0 {
		return false
	}
	for i := range g.instances {
		switch in := &g.instances[i]; {
		case in.alloc == nil:
			if s.isMissed(in) && needsRecovery(in.last) && s.ownVersion(in) != s.job {
				return false
			}
		case s.isCurrent(in.alloc), in.state == placed, in.state == running, in.state == unknown && !in.isReplaced():
		case s.destructive(g, in.alloc):
			return false
		}
	}
	return true
}

// candidates returns the steps that may be done now: all that only add, then as
// many of the others as the limit allows, those whose instance is worth least
// first. In a phase that is held or whose turn has not come, a place that was
// vacated by this plan is still filled: what has begun is brought to its end.
func (p *phase) candidates(dirty *dirtySet, m *treeScratch) []*step {
	if p.unpromoted {
		return nil
	}
	chosen := m.chosenFor(len(p.steps))
	room := math.MaxInt
	if p.limit > 0 {
		room = p.limit - p.underWay()
	}
	others := 0
	for i := range p.steps {
		switch st := &p.steps[i]; {
		case st.action == none:
		case st.on != nil && dirty.conflicts(st):
		case (st.action == leave || st.action == deregister) && p.begins():
			chosen = append(chosen, st)
		case (st.action == update && !st.proves || st.action == later) && !p.held:
			chosen = append(chosen, st) // takes nothing away, adds nothing
			if st.action == update && !st.settles {
				room-- // but will be under way
			}
		case st.action == start && (p.begins() || st.status == Prepared):
			chosen = append(chosen, st)
			room--
		case st.action == replace || st.action == launch || st.action == update:
			others++
		}
	}
	if p.limit > 0 && p.isTrying() {
		room = min(room, 1-p.underWay())
	}
	if others == 0 || !p.begins() {
		return chosen
	}
	for worth := range wellWorth + 1 {
		for i := range p.steps {
			if room <= 0 && !(p.reverts && worth == noWorth) {
				break
			}
			if st := &p.steps[i]; (st.action == replace || st.action == launch || st.action == update && st.proves) && !dirty.conflicts(st) && st.on.rank() == worth {
				chosen = append(chosen, st)
				room--
			}
		}
	}
	return chosen
}
