// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
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
