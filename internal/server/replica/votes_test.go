// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// fullStore is a stable store whose writes fail while full is set.
type fullStore struct {
	*raft.InmemStore
	full   atomic.Bool
	writes atomic.Int64
}

func (s *fullStore) SetUint64(key []byte, value uint64) error {
	s.writes.Add(1)
	if s.full.Load() {
		return errors.New("no space left on device")
	}
	return s.InmemStore.SetUint64(key, value)
}

func TestAFullDiskDelaysVotesAndDoesNotEndRaft(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		store := &fullStore{InmemStore: raft.NewInmemStore()}
		stop := make(chan struct{})
		v := &votes{store, stop, slog.New(slog.NewTextHandler(io.Discard, nil))}
		term := []byte("CurrentTerm")
		if err := v.SetUint64(term, 1); err != nil {
			t.Fatal(err)
		}
		store.full.Store(true)
		if err := v.SetUint64(term, 1); err != nil || store.writes.Load() != 1 {
			t.Errorf("a value that is stored: %v after %d writes, want nil after 1", err, store.writes.Load())
		}
		var stored, ended atomic.Bool
		go func() {
			defer ended.Store(true)
			stored.Store(v.SetUint64(term, 2) == nil)
		}()
		time.Sleep(10 * votePause)
		synctest.Wait()
		if ended.Load() || store.writes.Load() < 5 {
			t.Fatalf("ended %t after %d writes, want repeated writes", ended.Load(), store.writes.Load())
		}
		store.full.Store(false)
		time.Sleep(2 * votePause)
		synctest.Wait()
		if got, _ := store.GetUint64(term); !stored.Load() || got != 2 {
			t.Errorf("stored %t, term %d, want 2", stored.Load(), got)
		}

		store.full.Store(true)
		stored.Store(false)
		ended.Store(false)
		go func() {
			defer ended.Store(true)
			_ = v.SetUint64(term, 3)
			stored.Store(true) // with or without an error
		}()
		synctest.Wait()
		close(stop)
		synctest.Wait()
		if stored.Load() || !ended.Load() {
			t.Errorf("at the end of the replica the call returned: %t, the goroutine ended: %t", stored.Load(), ended.Load())
		}
	})
}
