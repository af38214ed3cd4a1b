// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/allocset"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// AdoptAllocations stores allocations that run on a node but are unknown to this state:
// orphans. Each carries the version of its job. Known and terminal allocations are
// skipped.
//
// An orphan is evidence of missing jobs, so it ends the freshness of its domain if that
// freshness is unproven (no operator vouched for it). An orphan that this very cluster
// once knew shows that the state went back in time, so that it ends the freshness of every
// domain.
type AdoptAllocations struct {
	NodeID      string
	Allocations []*api.Allocation // with their jobs
	Rewound     bool              // reports whether the allocations are from this cluster
	Time        int64             // Unix nanoseconds
}

// Name implements Command.
func (c *AdoptAllocations) Name() string { return "AdoptAllocations" }

func (c *AdoptAllocations) apply(t *txn) error {
	if t.Node(c.NodeID) == nil {
		return nodeNotFound(c.NodeID)
	}
	for _, a := range c.Allocations {
		switch {
		case a == nil || a.ID == "" || a.JobID == "" || a.Namespace == "":
			return api.Errorf(api.CodeInvalid, "an orphan needs an ID, a namespace and a job")
		case a.Job == nil || a.Job.Group(a.Group) == nil:
			return api.Errorf(api.CodeInvalid, "orphan %s comes without its job's group %q", a.ID, a.Group)
		}
	}
	adopted := false
	for _, a := range c.Allocations {
		if t.Allocation(a.ID) == nil && !a.IsTerminal() {
			t.adopt(a, c)
			adopted = true
		}
	}
	if adopted && c.Rewound {
		t.endAllFreshness()
	}
	return nil
}

// adopt stores an orphan and clears its references to objects that this state never knew.
func (t *txn) adopt(orphan *api.Allocation, c *AdoptAllocations) {
	a := orphan.Copy()
	a.Orphan, a.NodeID = true, c.NodeID
	a.EvalID, a.DeploymentID, a.DeploymentStatus, a.FollowupEvalID = "", "", nil, ""
	a.PreviousAllocation, a.NextAllocation, a.PreemptedAllocations, a.PreemptedByAllocation = "", "", nil, ""
	a.Metrics, a.DesiredTransition = nil, api.DesiredTransition{}
	a.DesiredStatus, a.DesiredReason, a.DesiredDescription = api.AllocDesiredRun, api.ReasonAdopted, api.ReasonAdopted.Text()
	a.CreateIndex, a.ModifyIndex, a.AllocModifyIndex, a.ModifyTime = t.index, t.index, t.index, c.Time
	if n := t.Node(c.NodeID); n != nil {
		a.NodeName = n.Name
	}
	job := *orphan.Job
	job.Namespace, job.ID = a.Namespace, a.JobID
	job.CreateIndex, job.ModifyIndex, job.JobModifyIndex = 0, 0, 0
	job.Stop, job.Purge, job.Stable, job.VersionTag = false, false, false, nil
	job.Status, job.StatusDescription, job.Held, job.HeldReason = "", "", false, ""
	_, row := t.editJob(a.Namespace, a.JobID)
	a.Job = row.sharedOrphaned(&job)
	t.putAllocation(a)
	if d := t.Domain(job.Domain); d != nil && d.Unproven {
		t.endFreshness(job.Domain)
	}
}

func (c *AdoptAllocations) encode() *wire.Command {
	orphans := make([]*api.Allocation, len(c.Allocations))
	for i, a := range c.Allocations {
		orphans[i] = a.Copy()
		orphans[i].Orphan = true // so that its job is encoded with it
	}
	return &wire.Command{Kind: &wire.Command_AdoptAllocations{AdoptAllocations: &wire.AdoptAllocations{
		NodeId: c.NodeID, Allocations: allocset.Encode(orphans), Rewound: c.Rewound, Time: c.Time,
	}}}
}

func decodeAdoptAllocations(w *wire.AdoptAllocations) (_ *AdoptAllocations, err error) {
	c := &AdoptAllocations{NodeID: w.NodeId, Rewound: w.Rewound, Time: w.Time}
	if c.Allocations, err = allocset.Decode(w.Allocations); err != nil {
		return nil, err
	}
	for _, a := range c.Allocations {
		if a.Job != nil {
			if err := checkJob(a.Job); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}
