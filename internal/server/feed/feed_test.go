// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package feed_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// picture counts a store's evaluations from the feed.
type picture struct {
	ids    map[string]bool
	starts int
	index  uint64
}

func (p *picture) start(snap *state.Snapshot) {
	p.starts++
	p.ids, p.index = map[string]bool{}, snap.Index()
	for e := range snap.Evaluations() {
		p.ids[e.ID] = true
	}
}

func put(store *state.Store, n int) {
	for range n {
		e := &api.Evaluation{ID: api.NewID(), JobID: "j", Status: api.EvalStatusPending}
		store.Apply(store.Index()+1, []state.Command{&state.PutEvaluations{Evaluations: []*api.Evaluation{e}}})
	}
}

func TestFollowMissesNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		store := state.New()
		put(store, 3)
		ctx, cancel := context.WithCancel(t.Context())
		p, done := &picture{}, make(chan error)
		go func() {
			done <- feed.Follow(ctx, store, p.start, func(b *state.Batch) {
				if b.Index != p.index+1 {
					t.Errorf("batch %d comes after %d", b.Index, p.index)
				}
				p.index = b.Index
				for _, c := range b.Changes {
					if e, ok := c.New.(*api.Evaluation); ok {
						p.ids[e.ID] = true
					}
				}
			})
		}()
		put(store, 100)
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Follow ended with %v", err)
		}
		if len(p.ids) != 103 || p.starts != 1 {
			t.Errorf("%d evaluations seen in %d starts, want 103 in one", len(p.ids), p.starts)
		}
	})
}

func TestFollowStartsOverWhenItFellBehind(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		store := state.New()
		ctx, cancel := context.WithCancel(t.Context())
		p, done, goOn := &picture{}, make(chan error), make(chan struct{})
		go func() {
			done <- feed.Follow(ctx, store, p.start, func(b *state.Batch) {
				<-goOn // slow
				p.index = b.Index
			})
		}()
		synctest.Wait()     // it follows
		const more = 33_000 // than the feed holds
		for i := range uint64(more) {
			store.Apply(i+1, []state.Command{&state.DeleteEvaluations{}})
		}
		close(goOn)
		synctest.Wait()
		cancel()
		<-done
		if p.starts < 2 || p.index != more {
			t.Errorf("%d starts, at index %d; want it to have started over and reached %d", p.starts, p.index, more)
		}
	})
}
