// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// CollectGarbage immediately deletes all ended objects that are not needed.
func (s *Server) CollectGarbage(ctx context.Context) error {
	var at control.Position
	for swept := false; !swept; {
		var cmd *state.Collect
		cmd, at, swept = control.Collect(s.store.Snapshot(), time.Now(), control.Thresholds{}, at)
		if cmd == nil {
			continue
		}
		if _, err := s.propose(ctx, cmd); err != nil {
			return err
		}
	}
	return nil
}
