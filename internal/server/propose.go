// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

var (
	errNoLeader = api.Errorf(api.CodeUnavailable, "this server is not the leader yet: try again in a moment")
	errShutdown = api.Errorf(api.CodeUnavailable, "the server is shutting down")
)

// propose has commands written and applied, and returns the index of their
// log entry.
func (s *Server) propose(ctx context.Context, cmds ...state.Command) (uint64, error) {
	index, errs, err := s.proposeEach(ctx, cmds...)
	if err != nil {
		return 0, err
	}
	for _, err := range errs {
		if err != nil {
			return index, err
		}
	}
	return index, nil
}

// proposeEach is propose with one result per command.
func (s *Server) proposeEach(ctx context.Context, cmds ...state.Command) (uint64, []error, error) {
	index, errs, err := s.journal.ProposeEach(ctx, cmds...)
	if err != nil {
		return 0, nil, s.userError(err)
	}
	return index, errs, nil
}

// userError is what a caller is told: errors without a code are of the log,
// and mean that this server cannot write now.
func (s *Server) userError(err error) error {
	var e *api.Error
	switch {
	case errors.As(err, &e), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	s.cfg.Logger.Error("cannot write to the log", "error", err)
	return api.Errorf(api.CodeUnavailable, "the server cannot write to its log: %v", err)
}
