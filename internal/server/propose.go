// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/replica"
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
	if err := s.checkLevel(cmds); err != nil {
		return 0, nil, err
	}
	index, errs, err := s.journal.ProposeEach(ctx, cmds...)
	if !errors.Is(err, replica.ErrNotLeading) {
		noteWrite(ctx)
	}
	if err != nil {
		return 0, nil, s.userError(err)
	}
	return index, errs, nil
}

// writtenKey is the context key of the mark that a request has, or may have, changed something.
type writtenKey struct{}

// TrackWrites returns a context, and a function that reports whether a verb with that context
// proposed anything that was or may be written. While it reports false, the request may be
// sent to another server.
func TrackWrites(ctx context.Context) (context.Context, func() bool) {
	written := new(atomic.Bool)
	return context.WithValue(ctx, writtenKey{}, written), written.Load
}

func noteWrite(ctx context.Context) {
	if written, ok := ctx.Value(writtenKey{}).(*atomic.Bool); ok {
		written.Store(true)
	}
}

// IsNotLeading reports whether an error says that this server does not lead.
func IsNotLeading(err error) bool {
	return errors.Is(err, replica.ErrNotLeading) || errors.Is(err, errNoLeader)
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
