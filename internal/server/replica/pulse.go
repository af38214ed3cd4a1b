// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/internal/latency"
	"github.com/reeve-run/reeve/internal/server/replica/wal"
)

// A disk is slow from the first sync that takes slowSync, until quickSyncs consecutive
// syncs take less than half of that.
const (
	slowSync   = 500 * time.Millisecond
	quickSyncs = 8
	pulseEvery = 100 * time.Millisecond // how often it is looked at
	probeEvery = time.Second            // how often a slow disk is tried
)

// pulse measures the health of the disk.
type pulse struct {
	made   time.Time
	began  atomic.Int64 // of the sync under way, nanoseconds since made; 0: none
	slow   atomic.Bool
	quick  atomic.Int64 // syncs in a row
	newest atomic.Int64 // how long the last sync took, in nanoseconds
	syncs  latency.Histogram

	once     sync.Once
	troubled chan struct{} // closed at the first failure
}

func newPulse() *pulse { return &pulse{made: time.Now(), troubled: make(chan struct{})} }

// fail records that a cause prevents writes to this server.
func (p *pulse) fail() { p.once.Do(func() { close(p.troubled) }) }

func (p *pulse) watch(broken func(error)) wal.Watch {
	return wal.Watch{
		Failed: func(error) { p.fail() },
		Began:  func() { p.began.Store(p.now()) },
		Synced: p.synced,
		Broken: broken,
	}
}

func (p *pulse) synced(took time.Duration) {
	p.began.Store(0)
	p.newest.Store(int64(took))
	p.syncs.Observe(took)
	switch {
	case took >= slowSync:
		p.quick.Store(0)
		p.slow.Store(true)
	case took >= slowSync/2:
		p.quick.Store(0)
	case p.slow.Load() && p.quick.Add(1) >= quickSyncs:
		p.slow.Store(false)
	}
}

// now returns the monotonic time: a clock that is set must not look like a slow disk.
func (p *pulse) now() int64 { return int64(time.Since(p.made)) }

// hangs reports whether a sync has been under way for too long.
func (p *pulse) hangs() bool {
	began := p.began.Load()
	if began == 0 || time.Duration(p.now()-began) < slowSync {
		return false
	}
	p.quick.Store(0)
	p.slow.Store(true)
	return true
}

// isSlow reports whether the disk is too slow for a leader.
func (p *pulse) isSlow() bool { return p.hangs() || p.slow.Load() }
