// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// decisionsKept is the number of a job's newest decisions that are always kept, as a
// record for operators. decisionsMost is the maximum number of decisions kept.
const (
	decisionsKept = 20
	decisionsMost = 4096
)

// spareDecisions marks the decisions of a job that can be deleted: those that no longer
// affect any of its plans and are not among the newest ones. It depends only on its
// arguments, so that all servers delete the same decisions.
func spareDecisions(all []*api.Decision, job *api.Job, restart *api.JobRestart) map[int]bool {
	spare := map[int]bool{}
	replaced := map[decisionTarget]bool{} // targets with a later decision
	started := map[string]bool{}          // custom plans with a later start
	for i, d := range slices.Backward(all) {
		isSpare := len(all)-i > decisionsMost
		switch {
		case job == nil || d.JobCreateIndex != job.CreateIndex:
			isSpare = true // about an earlier job with the same name
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

// A decisionTarget is the object of a decision. Only the last decision about a target
// counts.
type decisionTarget struct {
	plan, phase, step string
	group             string
	index             int
	node              string
	tasks             string // concatenated names; "" for all tasks
	kind              api.Verb
}

func targetOf(d *api.Decision) decisionTarget {
	t := decisionTarget{plan: d.Plan, phase: d.Phase, step: d.Step}
	if d.Verb == api.VerbForceComplete {
		t.kind = d.Verb // force-complete and other verbs do not replace each other
	}
	if d.IsAboutInstance() {
		t = wholeOf(d)
		for _, task := range d.Tasks {
			t.tasks += task + "\x00"
		}
	}
	return t
}

// wholeOf returns the target of the same verb on the whole instance.
func wholeOf(d *api.Decision) decisionTarget {
	kind := d.Verb
	if kind == api.VerbResume {
		kind = api.VerbPause // pause and resume replace each other
	}
	return decisionTarget{group: d.Group, index: d.Index, node: d.Node, kind: kind}
}
