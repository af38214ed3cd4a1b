// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/allocset"
	"github.com/reeve-run/reeve/internal/reasons"
	"github.com/reeve-run/reeve/internal/state/wire"
)

func (c *CommitPlacement) encode() *wire.Command {
	p := c.Placement
	if p == nil {
		return &wire.Command{Kind: &wire.Command_CommitPlacement{CommitPlacement: &wire.CommitPlacement{}}}
	}
	w := &wire.CommitPlacement{
		EvalId: p.EvalID, Priority: int64(p.Priority), SnapshotIndex: p.SnapshotIndex, AllAtOnce: p.AllAtOnce,
		Job: encodeJobRef(p.Job), Place: allocset.Encode(p.Place), DeploymentJson: document(p.Deployment),
		Evaluations: encodeEvaluations(p.Evaluations), Time: p.Time,
		RestartJson: document(p.Restart), Deregister: p.Deregister,
	}
	for _, s := range p.Stop {
		w.Stop = append(w.Stop, &wire.Stop{
			Id: s.ID, Reason: uint32(s.Reason), Description: reasons.Sentence(s.Reason, s.Description),
			ClientStatus: s.ClientStatus, FollowupEvalId: s.FollowupEvalID,
		})
	}
	for _, v := range p.Preempt {
		w.Preempt = append(w.Preempt, &wire.Preemption{Id: v.ID, By: v.By})
	}
	for i := range p.DeploymentUpdates {
		w.DeploymentUpdates = append(w.DeploymentUpdates, encodeDeploymentUpdate(&p.DeploymentUpdates[i]))
	}
	return &wire.Command{Kind: &wire.Command_CommitPlacement{CommitPlacement: w}}
}

func decodeCommitPlacement(w *wire.CommitPlacement) (_ *CommitPlacement, err error) {
	p := &Placement{
		EvalID: w.EvalId, Priority: int(w.Priority), SnapshotIndex: w.SnapshotIndex, AllAtOnce: w.AllAtOnce,
		Job: decodeJobRef(w.Job), Time: w.Time, Deregister: w.Deregister,
	}
	if p.Place, err = allocset.Decode(w.Place); err != nil {
		return nil, err
	}
	if p.Deployment, err = parse[api.Deployment](w.DeploymentJson); err != nil {
		return nil, err
	}
	if d := p.Deployment; d != nil {
		readReason(&d.StatusReason, d.StatusDescription, reasons.Deployment)
		for name, g := range d.Groups {
			if g == nil {
				return nil, fmt.Errorf("deployment %s: group %q is null", d.ID, name)
			}
		}
	}
	if p.Restart, err = parseRestart(w.RestartJson); err != nil {
		return nil, err
	}
	for _, s := range w.Stop {
		stop := Stop{ID: s.GetId(), ClientStatus: s.GetClientStatus(), FollowupEvalID: s.GetFollowupEvalId()}
		stop.Reason, stop.Description = reasons.Allocation(s.GetReason(), s.GetDescription())
		p.Stop = append(p.Stop, stop)
	}
	for _, v := range w.Preempt {
		p.Preempt = append(p.Preempt, Preemption{ID: v.GetId(), By: v.GetBy()})
	}
	for _, u := range w.DeploymentUpdates {
		p.DeploymentUpdates = append(p.DeploymentUpdates, decodeDeploymentUpdate(u))
	}
	p.Evaluations, err = decodeEvaluations(w.Evaluations)
	return &CommitPlacement{p}, err
}

func encodeDeploymentUpdate(u *DeploymentUpdate) *wire.DeploymentUpdate {
	return &wire.DeploymentUpdate{Id: u.ID, Status: u.Status, Reason: uint32(u.Reason), Description: reasons.Sentence(u.Reason, u.Description)}
}

func decodeDeploymentUpdate(w *wire.DeploymentUpdate) DeploymentUpdate {
	u := DeploymentUpdate{ID: w.GetId(), Status: w.GetStatus()}
	u.Reason, u.Description = reasons.Deployment(w.GetReason(), w.GetDescription())
	return u
}

// readReason sets the reason of an object that an earlier version wrote without one.
func readReason(reason *api.Reason, description string, find func(uint32, string) (api.Reason, string)) {
	if *reason == 0 {
		*reason, _ = find(0, description)
	}
}

// A job in a placement is encoded as a reference, because the store has the job.
func encodeJobRef(j *api.Job) *wire.JobRef {
	if j == nil {
		return nil
	}
	return &wire.JobRef{Namespace: j.Namespace, Id: j.ID, Version: j.Version, CreateIndex: j.CreateIndex, JobModifyIndex: j.JobModifyIndex}
}

func decodeJobRef(w *wire.JobRef) *api.Job {
	if w == nil {
		return nil
	}
	return &api.Job{Namespace: w.Namespace, ID: w.Id, Version: w.Version, CreateIndex: w.CreateIndex, JobModifyIndex: w.JobModifyIndex}
}

func (c *UpdateDeployment) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_UpdateDeployment{UpdateDeployment: &wire.UpdateDeployment{
		Id: c.ID, Status: c.Status, Reason: uint32(c.Reason), Description: reasons.Sentence(c.Reason, c.Description),
		Evaluation: encodeEvaluation(c.Evaluation), JobJson: document(c.Job), JobIndex: c.JobIndex, Time: c.Time, TroublesJson: encodeTroubles(c.Troubles),
	}}}
}

func decodeUpdateDeployment(w *wire.UpdateDeployment) (_ *UpdateDeployment, err error) {
	c := &UpdateDeployment{ID: w.Id, Status: w.Status, JobIndex: w.JobIndex, Time: w.Time}
	c.Reason, c.Description = reasons.Deployment(w.Reason, w.Description)
	if c.Troubles, err = decodeTroubles(w.TroublesJson); err != nil {
		return nil, err
	}
	if c.Job, err = parseJob(w.JobJson); err != nil {
		return nil, err
	}
	c.Evaluation, err = decodeEvaluation(w.Evaluation)
	return c, err
}

func (c *UpdateAllocations) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_UpdateAllocations{UpdateAllocations: &wire.UpdateAllocations{
		NodeId: c.NodeID, Allocations: allocset.EncodeUpdates(c.Allocations),
		Evaluations: encodeEvaluations(c.Evaluations), Time: c.Time,
	}}}
}

func decodeUpdateAllocations(w *wire.UpdateAllocations) (_ *UpdateAllocations, err error) {
	c := &UpdateAllocations{NodeID: w.NodeId, Time: w.Time}
	if c.Allocations, err = allocset.Decode(w.Allocations); err != nil {
		return nil, err
	}
	c.Evaluations, err = decodeEvaluations(w.Evaluations)
	return c, err
}

func (c *SetTransition) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_SetTransition{SetTransition: &wire.SetTransition{
		AllocationIds: c.AllocationIDs, TransitionJson: document(&c.Transition), Evaluations: encodeEvaluations(c.Evaluations),
	}}}
}

func decodeSetTransition(w *wire.SetTransition) (*SetTransition, error) {
	c := &SetTransition{AllocationIDs: w.AllocationIds}
	transition, err := parse[api.DesiredTransition](w.TransitionJson)
	if err != nil {
		return nil, err
	}
	if transition != nil {
		c.Transition = *transition
	}
	c.Evaluations, err = decodeEvaluations(w.Evaluations)
	return c, err
}
