// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// A TroubleFilter selects troubles.
type TroubleFilter = view.TroubleFilter

// Troubles returns the current problems of a job's instances, and their index.
func (s *Server) Troubles(_ context.Context, ns, id string, of TroubleFilter) ([]*api.Trouble, uint64, error) {
	snap := s.store.Snapshot()
	job, err := jobOf(snap, ns, id)
	if err != nil {
		return nil, 0, err
	}
	return view.Troubles(snap, job.Key(), job, of, time.Now()), snap.TableIndex(planTables...), nil
}

// phraseMax bounds a trouble's phrase in lists, in characters.
const phraseMax = 120

// stackTrouble describes the first trouble of a stack that is not ready yet, causes before symptoms; "" without one.
func stackTrouble(snap *state.Snapshot, s *api.Stack, job *api.Job) string {
	if s.Status != api.StackDeploying && s.Status != api.StackWarming {
		return ""
	}
	list := view.Troubles(snap, job.Key(), job, TroubleFilter{Version: &job.Version}, time.Now())
	if len(list) == 0 {
		return ""
	}
	return api.Printable(list[0].String(), phraseMax)
}
