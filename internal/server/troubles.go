// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
)

// TroubleFilter says which troubles are asked for.
type TroubleFilter = view.TroubleFilter

// Troubles returns what keeps a job's instances from being as they should be now,
// and the index that it is of.
func (s *Server) Troubles(_ context.Context, ns, id string, of TroubleFilter) ([]*api.Trouble, uint64, error) {
	snap := s.store.Snapshot()
	job, err := jobOf(snap, ns, id)
	if err != nil {
		return nil, 0, err
	}
	return view.Troubles(snap, job.Key(), job, of, time.Now()), snap.TableIndex(planTables...), nil
}
