// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// waitForIndex is how long a subscriber waits that is ahead of this server: one
// that has begun again is a moment behind.
const waitForIndex = 5 * time.Second

// eventStream is one subscriber being served.
type eventStream struct {
	*call
	eventQuery
	store *state.Store
	out   *eventWriter
	after uint64 // everything up to here was told, or is not wanted
	fresh bool   // nothing was told yet: what is missed was forgotten, not slept through
}

// streamEvents sends what changes, the events of each index together.
func streamEvents(c *call) error {
	q, err := c.parseEventQuery()
	if err != nil {
		return err
	}
	s := &eventStream{call: c, eventQuery: q, store: c.events.store(), fresh: true}
	begin, err := s.begin()
	if err != nil {
		return err
	}
	f := c.events.join(s.topics, s.after)
	defer c.events.leave(f)
	c.setIndex(s.store.Index())
	h := c.w.Header()
	h.Set("X-Reeve-Events-After", strconv.FormatUint(s.after, 10))
	h.Set("X-Reeve-Timeline", s.store.Snapshot().Timeline())
	s.out = newEventWriter(c, q)
	defer s.out.release()
	if err := s.out.start(); err != nil {
		return nil
	}
	if err = begin(); err == nil {
		err = s.follow(c.r.Context(), f)
	}
	return s.out.s.end(err)
}

// begin finds where the stream begins, and returns what is told first.
func (s *eventStream) begin() (first func() error, err error) {
	nothing := func() error { return nil }
	switch {
	case s.from == 0 && s.snapshot:
		s.after = s.store.HistoryTo()
		return s.tellSnapshot, nil
	case s.from == 0 && s.replay:
		s.after = s.store.HistoryFrom()
		return nothing, nil
	case s.from == 0:
		s.after = s.store.Index()
		return nothing, nil
	}
	s.after = s.from - 1
	foreign := s.store.Snapshot().Lacks(api.Position{Timeline: s.timeline, Index: s.after})
	if !foreign && s.after > s.store.Index() {
		ctx, cancel := context.WithTimeout(s.r.Context(), waitForIndex)
		defer cancel()
		foreign = s.store.Wait(ctx, s.after) != nil
	}
	switch {
	case foreign && s.snapshot:
		s.after, s.skip = s.store.HistoryTo(), 0
		return s.tellSnapshot, nil
	case foreign:
		return nil, api.Errorf(api.CodeNotFound, "index: %d is not of this cluster's history, which is at %d: read the lists anew, and follow from their index, or ask for a snapshot", s.from, s.store.Index())
	case s.after >= s.store.HistoryFrom():
		return nothing, nil
	case s.snapshot || !s.complete:
		return s.tellMissed, nil
	}
	return nil, api.Errorf(api.CodeNotFound, "events of index %d are not kept any more: the oldest are after index %d; read the lists anew, and follow from their index, or ask for a snapshot", s.from, s.store.HistoryFrom())
}

// follow tells what changes, until the subscriber leaves.
func (s *eventStream) follow(ctx context.Context, f *follower) error {
	quiet := time.NewTimer(signOfLife)
	defer quiet.Stop()
	silent := false
	for {
		from, to, anew := s.events.take(f)
		switch {
		case anew:
			if err := s.tellMissed(); err != nil {
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
		if silent {
			silent = false
			if err := s.out.alive(s.after); err != nil {
				return err
			}
			quiet.Reset(signOfLife)
		}
		select {
		case <-f.woken:
		case <-quiet.C:
			silent = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// catchUp tells what happened up to an index.
func (s *eventStream) catchUp(ctx context.Context, to uint64) error {
	for s.after < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := s.store.BatchAfter(s.after)
		switch {
		case errors.Is(err, state.ErrHistoryGone):
			if err := s.tellMissed(); err != nil {
				return err
			}
		case err != nil:
			return err
		case b == nil || b.Index > to:
			s.after = to
		default:
			if err := s.tell(b); err != nil {
				return err
			}
			s.after = b.Index
		}
	}
	return nil
}

// tell sends what is wanted of a batch.
func (s *eventStream) tell(b *state.Batch) error {
	skip := 0
	if b.Index == s.from {
		skip = s.skip
	}
	s.fresh = false
	s.out.index, s.out.n = b.Index, 0
	for e := range s.events.events(b, s.topics) {
		ok, err := s.admits(s.call, e.Event)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if skip > 0 {
			skip--
			s.out.n++
			continue
		}
		if err := s.out.add(e); err != nil {
			return err
		}
	}
	return s.out.end()
}

// tellMissed says what is not told, and goes on from a snapshot, or from the
// newest; for one that has just come, from the oldest that is kept.
func (s *eventStream) tellMissed() error {
	missed := &api.EventMissed{From: s.after + 1}
	var v *state.Snapshot
	switch {
	case s.snapshot:
		v = s.store.Snapshot()
		missed.To = v.Index()
	case s.fresh:
		missed.To = s.store.HistoryFrom()
	default:
		missed.To = s.store.HistoryTo()
	}
	s.after, s.fresh = missed.To, false
	id := eventID(missed.To, 0)
	if s.snapshot {
		id = ""
	}
	if err := s.out.mark("missed", id, &api.EventBatch{Index: missed.To, Missed: missed}); err != nil {
		return err
	}
	switch {
	case v != nil:
		return s.tellState(v)
	case s.complete:
		return errMissed
	}
	return nil
}

// errMissed breaks the connection of one that wants all or nothing.
var errMissed = errors.New("the subscriber missed events, and wants all or nothing")
