// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/internal/server/control"
)

// CollectGarbage forgets at once whatever has ended and is not needed.
func (s *Server) CollectGarbage(ctx context.Context) error {
	for {
		cmd, more := control.Collect(s.store.Snapshot(), time.Now(), control.Thresholds{})
		if cmd == nil {
			return nil
		}
		if _, err := s.propose(ctx, cmd); err != nil {
			return err
		}
		if !more {
			return nil
		}
	}
}
