// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package feed follows the state's change feed from a snapshot on, without
// gaps: what everything on a server that keeps a picture of the state derived
// from it (broker, fleet, node streams, controllers) has in common.
package feed

import (
	"context"
	"errors"

	"github.com/reeve-run/reeve/internal/state"
)

// Follow calls start with a snapshot and then next with every later batch, in
// order and from this goroutine, until ctx ends. A subscriber that falls too
// far behind starts over with a new snapshot.
func Follow(ctx context.Context, store *state.Store, start func(*state.Snapshot), next func(*state.Batch)) error {
	for {
		err := follow(ctx, store, start, next)
		if !errors.Is(err, state.ErrFellBehind) {
			return err
		}
	}
}

func follow(ctx context.Context, store *state.Store, start func(*state.Snapshot), next func(*state.Batch)) error {
	sub := store.Subscribe()
	defer sub.Close()
	snap := store.Snapshot()
	start(snap)
	for {
		batch, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		if batch.Index > snap.Index() {
			next(batch)
		}
	}
}
