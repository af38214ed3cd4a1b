// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"log/slog"
	"runtime"
	"time"

	"github.com/hashicorp/raft"
)

// votePause is the time between two attempts to store a value.
const votePause = 200 * time.Millisecond

// votes is the stable store of a running raft, which panics if it cannot store its term. On a file
// system that copies on write, a full disk prevents even that. So votes repeats a failed write
// until it succeeds: the server neither votes nor follows meanwhile, and continues by itself. After a
// failed sync no write succeeds, and the goroutine of raft ends with the replica.
type votes struct {
	raft.StableStore
	stop   <-chan struct{}
	logger *slog.Logger
}

// Set implements raft.StableStore.
func (v *votes) Set(key, value []byte) error {
	return v.store(func() error { return v.StableStore.Set(key, value) })
}

// SetUint64 implements raft.StableStore. It does not write a value that is stored: a server starts
// although its disk is full.
func (v *votes) SetUint64(key []byte, value uint64) error {
	if stored, err := v.StableStore.GetUint64(key); err == nil && stored == value {
		return nil
	}
	return v.store(func() error { return v.StableStore.SetUint64(key, value) })
}

func (v *votes) store(write func() error) error {
	err := write()
	if err == nil {
		return nil
	}
	v.logger.Error("cannot store the term and the vote: this server takes no part in elections and follows no leader until the disk works", "error", err)
	tick := time.NewTicker(votePause)
	defer tick.Stop()
	for {
		select {
		case <-v.stop:
			// Neither success nor an error would be true. Raft waits only for the end of the goroutine.
			runtime.Goexit()
		case <-tick.C:
		}
		if write() == nil {
			v.logger.Info("the term and the vote are stored")
			return nil
		}
	}
}
