// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package gcpace tunes the pace of Go's garbage collector for a server: how many
// bytes the process may allocate between two collections. A server holds a large
// live heap, the state, and allocates much short-lived memory under load. The
// runtime's default, a fixed share of the live heap, fits neither: a small state is
// collected all the time, a state of gigabytes doubles the process, and a server that was
// busy once keeps the memory of that load.
//
// So the bytes follow the rate of allocation: few while the server is idle, and as many
// under load as keep the cost of collections within a share of one processor.
package gcpace

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// Bounds of the allocation between two collections. What survives a load lies between its garbage,
// so that pages stay in use for a few objects each: more than the live heap between two collections
// costs a server with a small state that memory for as long as it runs.
const (
	maxPercent = 100      // of the live heap, as long as that is within maxBytes
	freeBytes  = 32 << 20 // under load, a small live heap may be exceeded by so much, up to twice
	maxBytes   = 512 << 20
	minPercent = 25 // of the live heap, even if that exceeds maxBytes
	minBytes   = 8 << 20
)

// costPerByte is the processor time that a collection takes for each live byte, in seconds:
// 0.36 s for a million allocations in the state.
const costPerByte = 0.45e-9

// share of one processor that collections may take, within the bounds.
const share = 0.02

// lull is the time without a collection after which the rate is measured anew, and unused
// memory is returned.
const lull = 5 * time.Second

// percentOf returns the share of live bytes that a process may allocate before the next
// collection, for debug.SetGCPercent. The rate is in bytes per second.
func percentOf(live uint64, rate float64) int {
	bytes := float64(max(live, 1))
	wanted := rate * bytes * costPerByte / share
	least := max(bytes*minPercent/100, min(minBytes, 2*bytes))
	most := max(least, min(max(bytes*maxPercent/100, min(freeBytes, 2*bytes)), maxBytes))
	return int(math.Round(100 * min(max(wanted, least), most) / bytes))
}

// Bound applies percentOf after every collection, and in a lull, until stop is called. Call
// it once: the setting belongs to the whole process.
func Bound() (stop func()) {
	p := &pace{measured: time.Now(), done: make(chan struct{})}
	p.before = debug.SetGCPercent(percentOf(p.read()))
	p.afterCollection()
	p.running.Go(p.watch)
	return p.stop
}

// A pace is the current setting and the measurements that it follows from.
type pace struct {
	before   int // the percentage before Bound
	done     chan struct{}
	running  sync.WaitGroup
	returned usage // when watch last returned memory

	mu        sync.Mutex
	stopped   bool
	percent   int
	measured  time.Time
	allocated uint64  // since the process began
	rate      float64 // bytes per second
}

// read returns the live bytes that the last collection found, and the rate of allocation since
// the last call. A rate that falls counts half of the earlier one, so that a short pause
// does not end the pace of a load; a lull does.
func (p *pace) read() (live uint64, rate float64) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	now, allocated := time.Now(), sample[1].Value.Uint64()
	if p.allocated > 0 {
		passed := max(now.Sub(p.measured), time.Millisecond)
		before := p.rate
		if p.rate = float64(allocated-p.allocated) / passed.Seconds(); passed < lull/2 {
			p.rate = max(p.rate, before/2)
		}
	}
	p.measured, p.allocated = now, allocated
	return sample[0].Value.Uint64(), p.rate
}

// adjust applies the setting that the measurements call for. It returns false after stop.
func (p *pace) adjust() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return false
	}
	percent := percentOf(p.read())
	if change := percent - p.percent; max(change, -change) > p.percent/8 {
		p.percent = percent
		debug.SetGCPercent(percent) // stops the world for a moment
	}
	return true
}

// afterCollection adjusts the pace after each collection.
func (p *pace) afterCollection() {
	type mark struct{ _ [16]byte } // unreferenced, so the next collection frees it
	runtime.AddCleanup(new(mark), func(p *pace) {
		if p.adjust() {
			p.afterCollection()
		}
	}, p)
}

// watch adjusts the pace in a lull, and returns memory that a load has left: a server that
// allocates little may not collect for minutes.
func (p *pace) watch() {
	tick := time.NewTicker(lull)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case now := <-tick.C:
			if !p.isQuiet(now) || !p.adjust() {
				continue
			}
			if u := readUsage(now); u.exceeds(p.returned) {
				debug.FreeOSMemory() // the runtime itself returns it within minutes
				p.returned = readUsage(now)
			}
		}
	}
}

// A usage is what the heap contains at a moment.
type usage struct {
	at          time.Time
	live        uint64 // bytes that the last collection found
	held        uint64 // bytes of objects, live or not, and of free memory that was not returned
	collections uint64 // that the runtime began by itself
}

func readUsage(now time.Time) usage {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/cycles/automatic:gc-cycles"}}
	metrics.Read(sample)
	return usage{now, sample[0].Value.Uint64(), sample[1].Value.Uint64() + sample[2].Value.Uint64(), sample[3].Value.Uint64()}
}

// exceeds reports whether another collection is worth its processor time: the heap contains
// much that is not live, or may contain it, because the last collection was during a load. A
// collection then counts garbage of the load as live.
func (u usage) exceeds(returned usage) bool {
	cost := time.Duration(float64(u.live) * costPerByte * float64(time.Second))
	if u.at.Sub(returned.at) < time.Duration(float64(cost)/share) {
		return false
	}
	return u.collections != returned.collections || u.held > u.live+max(minBytes, u.live/8)
}

func (p *pace) isQuiet(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Sub(p.measured) >= lull/2
}

func (p *pace) stop() {
	p.mu.Lock()
	first := !p.stopped
	p.stopped = true
	p.mu.Unlock()
	if first {
		close(p.done)
		p.running.Wait()
		debug.SetGCPercent(p.before)
	}
}
