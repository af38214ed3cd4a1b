// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// decisionsKept is how many of a job's decisions are kept whatever they are,
// for people who ask what was done; decisionsMost is how many are kept at most.
const (
	decisionsKept = 20
	decisionsMost = 4096
)

// spareDecisions marks the decisions of a job that may be forgotten: those that
// can bear on no tree of it any more, beyond the newest ones. It depends on
// nothing but its arguments, so that all servers forget the same.
func spareDecisions(all []*api.Decision, job *api.Job, restart *api.JobRestart) map[int]bool {
	spare := map[int]bool{}
	replaced := map[decisionTarget]bool{} // by a later decision
	started := map[string]bool{}          // custom plans, later
	for i, d := range slices.Backward(all) {
		isSpare := len(all)-i > decisionsMost
		switch {
		case job == nil || d.JobCreateIndex != job.CreateIndex:
			isSpare = true // of another job, of that name
		case d.IsAboutInstance():
			isSpare = isSpare || replaced[targetOf(d)] || replaced[wholeOf(d)]
			replaced[targetOf(d)] = true
		case d.Plan == api.PlanDeploy || d.Plan == api.PlanUpdate:
			isSpare = isSpare || d.JobVersion != job.Version
		case d.Plan == api.PlanRestart:
			isSpare = isSpare || restart == nil || d.Run != restart.ID
		case d.Plan == api.PlanRecovery || d.Plan == api.PlanDecommission || d.Plan == api.PlanUninstall || d.Plan == api.PlanDrain:
			isSpare = isSpare || replaced[targetOf(d)]
			replaced[targetOf(d)] = true
		default:
			isSpare = isSpare || started[d.Plan]
			started[d.Plan] = started[d.Plan] || d.Verb == api.VerbStart
		}
		if isSpare && len(all)-i > decisionsKept {
			spare[i] = true
		}
	}
	return spare
}

// decisionTarget is what a decision is about. Of several about the same only
// the last one counts.
type decisionTarget struct {
	plan, phase, step string
	group             string
	index             int
	node              string
	tasks             string // one after another; "" for all
	kind              api.Verb
}

func targetOf(d *api.Decision) decisionTarget {
	t := decisionTarget{plan: d.Plan, phase: d.Phase, step: d.Step}
	if d.Verb == api.VerbForceComplete {
		t.kind = d.Verb // neither takes the place of the other
	}
	if d.IsAboutInstance() {
		t = wholeOf(d)
		for _, task := range d.Tasks {
			t.tasks += task + "\x00"
		}
	}
	return t
}

// wholeOf is the target of the same verb on all of the instance.
func wholeOf(d *api.Decision) decisionTarget {
	kind := d.Verb
	if kind == api.VerbResume {
		kind = api.VerbPause // either takes the place of the other
	}
	return decisionTarget{group: d.Group, index: d.Index, node: d.Node, kind: kind}
}
