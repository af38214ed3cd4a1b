// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// maxLag is how long Open waits for the index of a subscriber that is ahead of this
// server. A server that has just restarted lags for a moment.
const maxLag = 5 * time.Second

// heartbeatInterval is how often a quiet stream sends a heartbeat.
const heartbeatInterval = 10 * time.Second

// errMissed ends the stream of a subscriber that requires a complete stream.
var errMissed = errors.New("the subscriber missed events and requires all of them")

// A Stream serves one subscriber.
type Stream struct {
	Query
	hub      *Hub
	store    *state.Store
	first    func() error // sends the first messages
	follower *follower
	out      *encoder
	after    uint64 // index up to which every selected event was sent
	steps    sentSteps
	fresh    bool // reports whether nothing was sent yet: missed events expired before the stream began
}

// Open finds the position where the stream begins and follows the changes after it. The
// caller must call Close.
func (h *Hub) Open(ctx context.Context, q Query) (*Stream, error) {
	s := &Stream{Query: q, hub: h, store: h.store(), fresh: true}
	if err := s.position(ctx); err != nil {
		return nil, err
	}
	s.follower = h.join(s.Topics, s.after)
	return s, nil
}

// Close stops following the changes.
func (s *Stream) Close() { s.hub.leave(s.follower) }

// After returns the index after which the stream begins.
func (s *Stream) After() uint64 { return s.after }

// Position returns the current position of the store.
func (s *Stream) Position() api.Position {
	return api.Position{Timeline: s.store.Snapshot().Timeline(), Index: s.store.Index()}
}

// position sets the index after which the stream begins, and its first messages.
func (s *Stream) position(ctx context.Context) error {
	s.first = func() error { return nil }
	switch {
	case s.From == 0 && s.Snapshot:
		s.after, s.first = s.store.HistoryTo(), s.sendSnapshot
		return nil
	case s.From == 0 && s.Replay:
		s.after = s.store.HistoryFrom()
		return nil
	case s.From == 0:
		s.after = s.store.Index()
		return nil
	}
	s.after = s.From - 1
	foreign := s.store.Snapshot().Lacks(api.Position{Timeline: s.Timeline, Index: s.after})
	if !foreign && s.after > s.store.Index() {
		ctx, cancel := context.WithTimeout(ctx, maxLag)
		defer cancel()
		foreign = s.store.Wait(ctx, s.after) != nil
	}
	switch {
	case foreign && s.Snapshot:
		s.after, s.Skip, s.first = s.store.HistoryTo(), 0, s.sendSnapshot
		return nil
	case foreign:
		return api.Errorf(api.CodeNotFound, "index: %d is not part of this cluster's history, which is at %d; read the lists again and follow from their index, or request a snapshot", s.From, s.store.Index())
	case s.after >= s.store.HistoryFrom():
		return nil
	case s.Snapshot || !s.Complete:
		s.first = s.sendMissed
		return nil
	}
	return api.Errorf(api.CodeNotFound, "events of index %d are no longer kept: the oldest are after index %d; read the lists again and follow from their index, or request a snapshot", s.From, s.store.HistoryFrom())
}

// Run sends events until the context ends or a write fails.
func (s *Stream) Run(ctx context.Context, w io.Writer) error {
	s.out = newEncoder(w, &s.Query)
	defer s.out.release()
	if err := s.out.start(); err != nil {
		return nil
	}
	if err := s.first(); err != nil {
		return err
	}
	return s.follow(ctx)
}

// follow sends the events of changes.
func (s *Stream) follow(ctx context.Context) error {
	quiet := time.NewTimer(heartbeatInterval)
	defer quiet.Stop()
	silent := false
	var due <-chan time.Time // of the next look at steps
	for {
		from, to, replaced := s.hub.take(s.follower)
		switch {
		case replaced:
			if err := s.sendMissed(); err != nil {
				return err
			}
			continue
		case from > 0:
			s.after = max(s.after, from-1)
			if err := s.catchUp(ctx, to); err != nil {
				return err
			}
			continue
		}
		s.after = max(s.after, to)
		wait, err := s.sendSteps()
		if err != nil {
			return err
		}
		if due = nil; wait > 0 {
			due = time.After(wait)
		}
		if silent {
			silent = false
			if err := s.out.heartbeat(s.after); err != nil {
				return err
			}
			quiet.Reset(heartbeatInterval)
		}
		select {
		case <-s.follower.woken:
		case <-due:
		case <-quiet.C:
			silent = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// catchUp sends the events up to an index.
func (s *Stream) catchUp(ctx context.Context, to uint64) error {
	for s.after < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := s.store.BatchAfter(s.after)
		switch {
		case errors.Is(err, state.ErrHistoryGone):
			if err := s.sendMissed(); err != nil {
				return err
			}
		case err != nil:
			return err
		case b == nil || b.Index > to:
			s.after = to
		default:
			if err := s.sendBatch(b); err != nil {
				return err
			}
			s.after = b.Index
		}
	}
	return nil
}

// sendBatch sends the selected events of a batch.
func (s *Stream) sendBatch(b *state.Batch) error {
	skip := 0
	if b.Index == s.From && s.May == nil {
		skip = s.Skip
	}
	s.fresh = false
	s.noteSteps(b)
	s.out.begin(b.Index)
	for e := range s.hub.cache.events(b, s.Topics) {
		ok, err := s.admits(e.Event)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if skip > 0 {
			skip--
			s.out.skip()
			continue
		}
		if err := s.out.add(e); err != nil {
			return err
		}
	}
	return s.out.end()
}

func (s *Stream) sendSnapshot() error { return s.sendState(s.store.Snapshot()) }

// sendMissed reports the missed range and continues with a snapshot, or with the newest
// events. A stream that has not sent anything yet continues with the oldest retained ones.
func (s *Stream) sendMissed() error {
	missed := &api.EventMissed{From: s.after + 1}
	var v *state.Snapshot
	switch {
	case s.Snapshot:
		v = s.store.Snapshot()
		missed.To = v.Index()
	case s.fresh:
		missed.To = s.store.HistoryFrom()
	default:
		missed.To = s.store.HistoryTo()
	}
	if missed.To < missed.From {
		return nil // the hub fell behind, and this stream has reported all of that already
	}
	s.after, s.fresh = missed.To, false
	s.steps = sentSteps{next: s.steps.next} // which steps changed is not known
	id := formatID(missed.To, 0)
	if s.Snapshot {
		id = ""
	}
	if err := s.out.mark("missed", id, &api.EventBatch{Index: missed.To, Missed: missed}); err != nil {
		return err
	}
	switch {
	case v != nil:
		return s.sendState(v)
	case s.Complete:
		return errMissed
	}
	return nil
}
