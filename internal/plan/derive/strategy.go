// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/tree"
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
//     If the newest version has proved itself before, or changes the deployed group only
//     in place, failed instances are replaced immediately and without a limit: they serve
//     no client, and run nothing new.
//     A step that changes in place the checks of an instance (proof.go) is limited too: the first
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
func (d *deployer) limitOf(g *facts.Group) int {
	if !g.Rolling || !d.updates(g) && !d.atRisk(g) {
		return 0
	}
	return maxParallel(g)
}

// maxParallel is what the group's update block says.
func maxParallel(g *facts.Group) int {
	u := g.Def.Update
	return api.ShareOf(*u.MaxParallel, opt.Of(u.MaxParallelPercent), len(g.Instances))
}

// updates reports whether the deployment of the newest version replaces what was
// deployed of the group. That does not change while it is being deployed.
func (d *deployer) updates(g *facts.Group) bool { return !d.hasEnded() && d.ReplacesDeployed(g) }

// atRisk reports whether an instance of an older version of the group serves
// and will have to be taken away, or to prove itself.
func (d *deployer) atRisk(g *facts.Group) bool {
	for i := range g.Instances {
		if in := &g.Instances[i]; in.Serves() && !d.IsCurrent(in.Alloc) && (d.IsDestructive(g, in.Alloc) || d.NeedsProof(g, in.Alloc) && facts.IsAnswering(in.Alloc)) {
			return true
		}
	}
	return false
}

// openPhases sets which phases of a generated plan may begin.
func (d *deployer) openPhases(phases []*tree.Phase) {
	ordered := slices.ContainsFunc(phases, func(p *tree.Phase) bool {
		return p.Rolling && (d.updates(p.Group) || !d.hasEnded() && d.ChangesChecks(p.Group))
	})
	open := true
	for _, p := range phases {
		if !p.Rolling || p.Canaries {
			p.Open = true
			continue
		}
		p.Open = (open || d.waitsForRoom(p.Group)) && !p.Unpromoted
		open = open && (!ordered || p.IsComplete())
	}
}

// waitsForRoom reports whether the deployment has begun the group and waits for room for
// its instances. It is false while recovery fills a place that an older version held last:
// that may be the instance without room.
func (d *deployer) waitsForRoom(g *facts.Group) bool {
	e := d.R.BlockedEvaluation(d.Key.Namespace, d.Key.ID)
	if e == nil || e.SnapshotIndex < d.Job.JobModifyIndex || e.QueuedAllocations[g.Name] == 0 {
		return false
	}
	for i := range g.Instances {
		switch in := &g.Instances[i]; {
		case in.Alloc == nil:
			if d.IsMissed(in) && facts.NeedsRecovery(in.Last) && !d.IsCurrent(in.Last) {
				return false
			}
		case d.IsCurrent(in.Alloc), in.State == facts.Placed, in.State == facts.Running, in.State == facts.Unknown && !in.IsReplaced():
		case d.IsDestructive(g, in.Alloc):
			return false
		}
	}
	return true
}
