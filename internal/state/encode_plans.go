// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/reasons"
	"github.com/reeve-run/reeve/internal/state/wire"
)

func (c *Decide) encode() *wire.Command {
	w := &wire.Decide{DecisionJson: document(c.Decision), After: c.After, Evaluation: encodeEvaluation(c.Evaluation), Time: c.Time}
	if u := c.DeploymentUpdate; u != nil {
		w.DeploymentUpdate = encodeDeploymentUpdate(u)
	}
	if c.UpdateRestart != nil {
		w.UpdateRestart = c.UpdateRestart.wire()
	}
	w.ShiftJson, w.StackJson = document(c.Shift), document(c.Stack)
	return &wire.Command{Kind: &wire.Command_Decide{Decide: w}}
}

func decodeDecide(w *wire.Decide) (_ *Decide, err error) {
	c := &Decide{After: w.After, Time: w.Time}
	if u := w.DeploymentUpdate; u != nil {
		update := decodeDeploymentUpdate(u)
		c.DeploymentUpdate = &update
	}
	if w.UpdateRestart != nil {
		if c.UpdateRestart, err = decodeUpdateRestart(w.UpdateRestart); err != nil {
			return nil, err
		}
	}
	if c.Decision, err = parse[api.Decision](w.DecisionJson); err != nil {
		return nil, err
	}
	if c.Shift, err = parse[api.Shift](w.ShiftJson); err != nil {
		return nil, err
	}
	if c.Stack, err = parseStack(w.StackJson); err != nil {
		return nil, err
	}
	c.Evaluation, err = decodeEvaluation(w.Evaluation)
	return c, err
}

func (c *PutRestart) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_PutRestart{PutRestart: &wire.PutRestart{
		RestartJson: document(c.Restart), Evaluation: encodeEvaluation(c.Evaluation),
	}}}
}

func decodePutRestart(w *wire.PutRestart) (_ *PutRestart, err error) {
	c := &PutRestart{}
	if c.Restart, err = parseRestart(w.RestartJson); err != nil {
		return nil, err
	}
	c.Evaluation, err = decodeEvaluation(w.Evaluation)
	return c, err
}

func parseRestart(text []byte) (*api.JobRestart, error) {
	r, err := parse[api.JobRestart](text)
	if r != nil {
		readReason(&r.StatusReason, r.StatusDescription, reasons.Restart)
	}
	return r, err
}

func (c *UpdateRestart) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_UpdateRestart{UpdateRestart: c.wire()}}
}

func (c *UpdateRestart) wire() *wire.UpdateRestart {
	return &wire.UpdateRestart{
		Id: c.ID, Status: c.Status, Reason: uint32(c.Reason), Description: reasons.Sentence(c.Reason, c.Description), ModifyIndex: c.ModifyIndex,
		Evaluation: encodeEvaluation(c.Evaluation), Time: c.Time,
	}
}

func decodeUpdateRestart(w *wire.UpdateRestart) (_ *UpdateRestart, err error) {
	c := &UpdateRestart{ID: w.Id, Status: w.Status, ModifyIndex: w.ModifyIndex, Time: w.Time}
	c.Reason, c.Description = reasons.Restart(w.Reason, w.Description)
	c.Evaluation, err = decodeEvaluation(w.Evaluation)
	return c, err
}

func (c *PromoteDeployment) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_PromoteDeployment{PromoteDeployment: &wire.PromoteDeployment{
		Id: c.ID, Groups: c.Groups, Reason: uint32(c.Reason), Description: reasons.Sentence(c.Reason, c.Description),
		Evaluation: encodeEvaluation(c.Evaluation), Time: c.Time,
	}}}
}

func decodePromoteDeployment(w *wire.PromoteDeployment) (_ *PromoteDeployment, err error) {
	c := &PromoteDeployment{ID: w.Id, Groups: w.Groups, Time: w.Time}
	c.Reason, c.Description = reasons.Deployment(w.Reason, w.Description)
	c.Evaluation, err = decodeEvaluation(w.Evaluation)
	return c, err
}

func (c *SetAllocHealth) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_SetAllocHealth{SetAllocHealth: &wire.SetAllocHealth{
		DeploymentId: c.DeploymentID, Healthy: c.Healthy, Unhealthy: c.Unhealthy,
		Status: c.Status, Reason: uint32(c.Reason), Description: reasons.Sentence(c.Reason, c.Description),
		Evaluation: encodeEvaluation(c.Evaluation), JobJson: document(c.Job), JobIndex: c.JobIndex, Time: c.Time, TroublesJson: encodeTroubles(c.Troubles),
	}}}
}

func decodeSetAllocHealth(w *wire.SetAllocHealth) (_ *SetAllocHealth, err error) {
	c := &SetAllocHealth{
		DeploymentID: w.DeploymentId, Healthy: w.Healthy, Unhealthy: w.Unhealthy, Status: w.Status, JobIndex: w.JobIndex, Time: w.Time,
	}
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

func encodeTroubles(list []*api.Trouble) []byte {
	if len(list) == 0 {
		return nil
	}
	return document(&list)
}

func decodeTroubles(text []byte) ([]*api.Trouble, error) {
	list, err := parse[[]*api.Trouble](text)
	if err != nil || list == nil {
		return nil, err
	}
	return slices.DeleteFunc(*list, func(t *api.Trouble) bool { return t == nil }), nil
}
