// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

func (c *RegisterJob) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_RegisterJob{RegisterJob: &wire.RegisterJob{
		JobJson: document(c.Job), SubmissionJson: document(c.Submission),
		Evaluation: encodeEvaluation(c.Evaluation), EnforceIndex: c.EnforceIndex, Again: c.Again,
	}}}
}

func decodeRegisterJob(w *wire.RegisterJob) (_ *RegisterJob, err error) {
	c := &RegisterJob{EnforceIndex: w.EnforceIndex, Again: w.Again}
	if c.Job, err = parseJob(w.JobJson); err != nil {
		return nil, err
	}
	if c.Submission, err = parse[api.JobSubmission](w.SubmissionJson); err != nil {
		return nil, err
	}
	c.Evaluation, err = decodeEvaluation(w.Evaluation)
	return c, err
}

func (c *DeregisterJob) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_DeregisterJob{DeregisterJob: &wire.DeregisterJob{
		Namespace: c.Namespace, Id: c.ID, Purge: c.Purge,
		Evaluation: encodeEvaluation(c.Evaluation), Time: c.Time,
	}}}
}

func decodeDeregisterJob(w *wire.DeregisterJob) (_ *DeregisterJob, err error) {
	c := &DeregisterJob{Namespace: w.Namespace, ID: w.Id, Purge: w.Purge, Time: w.Time}
	c.Evaluation, err = decodeEvaluation(w.Evaluation)
	return c, err
}

func (c *SetJobStability) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_SetJobStability{SetJobStability: &wire.SetJobStability{
		Namespace: c.Namespace, Id: c.ID, Version: c.Version, Stable: c.Stable,
	}}}
}

func (c *ScaleJob) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_ScaleJob{ScaleJob: &wire.ScaleJob{
		Namespace: c.Namespace, Id: c.ID, Group: c.Group, Count: c.Count,
		EventJson: document(c.Event), Evaluation: encodeEvaluation(c.Evaluation), EnforceIndex: c.EnforceIndex,
	}}}
}

func decodeScaleJob(w *wire.ScaleJob) (_ *ScaleJob, err error) {
	c := &ScaleJob{Namespace: w.Namespace, ID: w.Id, Group: w.Group, Count: w.Count, EnforceIndex: w.EnforceIndex}
	if c.Event, err = parse[api.ScalingEvent](w.EventJson); err != nil {
		return nil, err
	}
	c.Evaluation, err = decodeEvaluation(w.Evaluation)
	return c, err
}
