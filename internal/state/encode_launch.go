// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"
	"slices"

	"github.com/reeve-run/reeve/internal/state/wire"
)

func (c *LaunchJob) encode() *wire.Command {
	w := &wire.LaunchJob{
		Namespace: c.Namespace, ParentId: c.ParentID, ParentIndex: c.ParentIndex, Id: c.ID, Time: c.Time,
		Due: c.Due, Skip: c.Skip, Exclusive: c.Exclusive,
		Payload: c.Payload, IdempotencyToken: c.IdempotencyToken, Priority: int64(c.Priority),
		Evaluation: encodeEvaluation(c.Evaluation),
	}
	for _, key := range slices.Sorted(maps.Keys(c.Meta)) {
		w.Meta = append(w.Meta, &wire.MetaEntry{Key: key, Value: c.Meta[key]})
	}
	return &wire.Command{Kind: &wire.Command_LaunchJob{LaunchJob: w}}
}

func decodeLaunchJob(w *wire.LaunchJob) (_ *LaunchJob, err error) {
	c := &LaunchJob{
		Namespace: w.Namespace, ParentID: w.ParentId, ParentIndex: w.ParentIndex, ID: w.Id, Time: w.Time,
		Due: w.Due, Skip: w.Skip, Exclusive: w.Exclusive,
		Payload: w.Payload, IdempotencyToken: w.IdempotencyToken, Priority: int(w.Priority),
	}
	if len(w.Meta) > 0 {
		c.Meta = make(map[string]string, len(w.Meta))
		for _, m := range w.Meta {
			c.Meta[m.GetKey()] = m.GetValue()
		}
	}
	c.Evaluation, err = decodeEvaluation(w.Evaluation)
	return c, err
}
