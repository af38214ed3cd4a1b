// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/allocset"
	"github.com/reeve-run/reeve/internal/reasons"
	"github.com/reeve-run/reeve/internal/state/wire"
)

func encodeEvaluation(e *api.Evaluation) *wire.Evaluation {
	if e == nil {
		return nil
	}
	w := &wire.Evaluation{
		Id: e.ID, Priority: int64(e.Priority), Type: e.Type, TriggeredBy: e.TriggeredBy,
		Namespace: e.Namespace, JobId: e.JobID, JobModifyIndex: e.JobModifyIndex,
		NodeId: e.NodeID, NodeModifyIndex: e.NodeModifyIndex, DeploymentId: e.DeploymentID,
		Status: e.Status, StatusReason: uint32(e.StatusReason), StatusDescription: reasons.Sentence(e.StatusReason, e.StatusDescription),
		Wait: int64(e.Wait), WaitUntil: allocset.Nanos(e.WaitUntil),
		NextEval: e.NextEval, PreviousEval: e.PreviousEval, BlockedEval: e.BlockedEval,
		QueuedKnown: e.QueuedAllocations != nil, SnapshotIndex: e.SnapshotIndex,
		CreateIndex: e.CreateIndex, ModifyIndex: e.ModifyIndex,
		CreateTime: e.CreateTime, ModifyTime: e.ModifyTime, RestJson: restOfEvaluation(e),
	}
	for _, group := range slices.Sorted(maps.Keys(e.QueuedAllocations)) {
		w.Queued = append(w.Queued, &wire.Queued{Group: group, Count: int64(e.QueuedAllocations[group])})
	}
	return w
}

func encodeEvaluations(evaluations []*api.Evaluation) []*wire.Evaluation {
	var out []*wire.Evaluation
	for _, e := range evaluations {
		if e != nil {
			out = append(out, encodeEvaluation(e))
		}
	}
	return out
}

func decodeEvaluation(w *wire.Evaluation) (*api.Evaluation, error) {
	if w == nil {
		return nil, nil
	}
	e := &api.Evaluation{
		ID: w.Id, Priority: int(w.Priority), Type: stored.Text(w.Type), TriggeredBy: stored.Text(w.TriggeredBy),
		Namespace: stored.Text(w.Namespace), JobID: stored.Text(w.JobId), JobModifyIndex: w.JobModifyIndex,
		NodeID: w.NodeId, NodeModifyIndex: w.NodeModifyIndex, DeploymentID: w.DeploymentId,
		Status: stored.Text(w.Status),
		Wait:   time.Duration(w.Wait), WaitUntil: allocset.FromNanos(w.WaitUntil),
		NextEval: w.NextEval, PreviousEval: w.PreviousEval, BlockedEval: w.BlockedEval,
		SnapshotIndex: w.SnapshotIndex, CreateIndex: w.CreateIndex, ModifyIndex: w.ModifyIndex,
		CreateTime: w.CreateTime, ModifyTime: w.ModifyTime,
	}
	e.StatusReason, e.StatusDescription = reasons.Evaluation(w.StatusReason, w.StatusDescription)
	if w.QueuedKnown {
		e.QueuedAllocations = decodeQueued(w.Queued)
	}
	if len(w.RestJson) > 0 {
		rest, err := decode[*restEvaluation](w.RestJson)
		if err != nil {
			return nil, fmt.Errorf("decode evaluation %s: %w", w.Id, err)
		}
		if *rest != nil {
			(*rest).fill(e)
		}
	}
	return e, nil
}

func decodeEvaluations(in []*wire.Evaluation) ([]*api.Evaluation, error) {
	var out []*api.Evaluation
	for _, w := range in {
		e, err := decodeEvaluation(w)
		if err != nil {
			return nil, err
		}
		if e != nil {
			out = append(out, e)
		}
	}
	return out, nil
}

// decodeQueued returns the number of unplaced instances by group. Most evaluations are of
// jobs with one group, whose name is one of a few, so those share their maps.
func decodeQueued(in []*wire.Queued) map[string]int {
	if len(in) == 1 {
		return oneQueued.get(in[0].GetGroup(), int(in[0].GetCount()))
	}
	out := make(map[string]int, len(in))
	for _, q := range in {
		out[q.GetGroup()] = int(q.GetCount())
	}
	return out
}

var oneQueued queuedPool

// A queuedPool keeps recent maps of one group.
type queuedPool [256]atomic.Pointer[queuedEntry]

type queuedEntry struct {
	group string
	count int
	queue map[string]int
}

func (p *queuedPool) get(group string, count int) map[string]int {
	place := &p[(maphash.String(queuedSeed, group)+uint64(count))%uint64(len(p))]
	if e := place.Load(); e != nil && e.group == group && e.count == count {
		return e.queue
	}
	e := &queuedEntry{group, count, map[string]int{group: count}}
	place.Store(e)
	return e.queue
}

var queuedSeed = maphash.MakeSeed()
