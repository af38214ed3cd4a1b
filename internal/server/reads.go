// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"
)

// ReadIndex returns the index in the log that a server must have applied to answer a read that
// begins now. It returns an error unless a majority confirms that this server leads.
func (s *Server) ReadIndex(ctx context.Context) (uint64, error) { return s.journal.ReadIndex(ctx) }

// CatchUp returns when this server has applied the log up to an index.
func (s *Server) CatchUp(ctx context.Context, index uint64) error {
	return s.store.WaitLog(ctx, index)
}

// LastContact returns the time since this server last heard of a leader; 0 if it leads.
func (s *Server) LastContact() time.Duration {
	if s.replica == nil || s.cfg.Transport == nil {
		return 0
	}
	return s.replica.LastContact()
}
