// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// deletionsPerEntry bounds the evaluations that one log entry deletes.
const deletionsPerEntry = 4096

// DeleteEvaluations deletes evaluations of any status, and cancels their effects: a job whose
// pending evaluation is deleted stays unchanged until its next evaluation. If a worker holds
// one of the evaluations, none is deleted.
func (s *Server) DeleteEvaluations(ctx context.Context, ids []string) (index uint64, err error) {
	t := s.term.Load()
	if t == nil {
		return 0, errNoLeader
	}
	snap := s.store.Snapshot()
	for _, id := range ids {
		switch {
		case snap.Evaluation(id) == nil:
			return 0, api.Errorf(api.CodeNotFound, "evaluation %q not found", id)
		case t.broker.IsOutstanding(id):
			return 0, api.Errorf(api.CodeConflict, "evaluation %s is in progress: try again in a moment", api.ShortID(id))
		}
	}
	for len(ids) > 0 {
		n := min(len(ids), deletionsPerEntry)
		if index, err = s.propose(ctx, &state.DeleteEvaluations{IDs: ids[:n]}); err != nil {
			return 0, err
		}
		ids = ids[n:]
	}
	return index, nil
}

// UnblockEvaluation evaluates a blocked evaluation now.
func (s *Server) UnblockEvaluation(ctx context.Context, id string) (uint64, error) {
	t := s.term.Load()
	if t == nil {
		return 0, errNoLeader
	}
	e := s.store.Snapshot().Evaluation(id)
	switch {
	case e == nil:
		return 0, api.Errorf(api.CodeNotFound, "evaluation %q not found", id)
	case e.Status != api.EvalStatusBlocked:
		return 0, api.Errorf(api.CodeInvalid, "evaluation %s is %s: only a blocked one can be unblocked", api.ShortID(id), e.Status)
	case t.broker.IsOutstanding(id):
		return s.store.Index(), nil // that is happening
	}
	e = e.Copy()
	e.Status, e.WaitUntil = api.EvalStatusPending, time.Time{}
	e.StatusReason, e.StatusDescription = api.ReasonEvalUnblocked, api.ReasonEvalUnblocked.Text()
	e.ModifyTime = time.Now().UnixNano()
	return s.propose(ctx, &state.PutEvaluations{Evaluations: []*api.Evaluation{e}})
}

// Stats counts what the log of this server did and, while it leads, what its
// scheduler holds and did.
func (s *Server) Stats() map[string]string {
	stats := map[string]string{}
	if s.replica != nil {
		r := s.replica.Stats()
		stats["log_entries"], stats["log_proposals"] = strconv.FormatUint(r.Entries, 10), strconv.FormatUint(r.Proposals, 10)
		stats["log_last_sync_us"] = strconv.FormatInt(r.LastSync.Microseconds(), 10)
		if r.Degraded != "" {
			stats["degraded"] = r.Degraded
		}
	}
	stats["evaluations_computed"] = strconv.FormatUint(s.meters.computed.Load(), 10)
	t := s.term.Load()
	if t == nil {
		return stats
	}
	b := t.broker.Stats()
	for name, n := range map[string]uint64{
		"evaluations_ready": uint64(b.Ready), "evaluations_delayed": uint64(b.Delayed),
		"evaluations_blocked": uint64(b.Blocked), "evaluations_out": uint64(b.Out),
		"workers": uint64(max(s.cfg.Workers, 0)), "placements_refused": s.meters.refused.Load(),
	} {
		stats[name] = strconv.FormatUint(n, 10)
	}
	return stats
}
