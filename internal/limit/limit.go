// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"strings"
	"sync"
	"time"
)

// A Rate bounds the events of one key.
type Rate struct {
	PerSecond float64 // refill a bucket; 0: no limit
	Burst     int     // size of a bucket
}

// Bounds of a Rate.
const (
	MinPerSecond = 0.01
	MaxPerSecond = 1e6
	MaxBurst     = 1e6
)

// A Limiter has a bucket for each key. It is safe for concurrent use.
type Limiter struct {
	rate Rate
	keys int       // most keys that are remembered
	zero time.Time // the origin of times: differences of times follow no correction of the clock

	mu    sync.Mutex
	index map[Key]uint32
	slots []bucket // slots[0] is the end of the list of buckets, in the order of their last use
}

type bucket struct {
	key        Key
	full       time.Duration // when the bucket is full again
	next, prev uint32        // less and more recently used
}

// New returns a limiter with a rate for the keys that were used last, at most so many.
func New(rate Rate, keys int) *Limiter {
	return &Limiter{rate: rate, keys: keys, zero: time.Now(), index: map[Key]uint32{}, slots: make([]bucket, 1)}
}

// Rate returns the rate of a key whose Times is 1.
func (l *Limiter) Rate() Rate { return l.rate }

// Take takes an event of a key. It returns 0 if the event is permitted, and otherwise the time after which
// the next one is.
func (l *Limiter) Take(key Key, now time.Time) (wait time.Duration) {
	if l.rate.PerSecond <= 0 {
		return 0
	}
	// Times makes the bucket larger and its refill faster, so that the time of a burst is always the same.
	burst := time.Duration(float64(l.rate.Burst) / l.rate.PerSecond * float64(time.Second))
	one := max(burst/time.Duration(l.rate.Burst)/time.Duration(max(key.Times, 1)), 1)
	at := now.Sub(l.zero)
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(key, at)
	full := max(b.full, at) + one
	if wait = full - at - max(burst, one); wait > 0 {
		return wait
	}
	b.full = full
	return 0
}

// bucket returns the bucket of a key, and makes it the last used one. The caller holds mu.
func (l *Limiter) bucket(key Key, at time.Duration) *bucket {
	i, known := l.index[key]
	switch {
	case known:
		l.unlink(i)
	case len(l.slots) <= l.keys:
		i = uint32(len(l.slots))
		l.slots = append(l.slots, bucket{})
	default:
		i = l.slots[0].prev
		l.unlink(i)
		delete(l.index, l.slots[i].key)
	}
	if !known {
		key.Token = strings.Clone(key.Token) // it may be a part of a long line
		l.slots[i] = bucket{key: key, full: at}
		l.index[key] = i
	}
	b, first := &l.slots[i], l.slots[0].next
	b.next, b.prev = first, 0
	l.slots[first].prev = i
	l.slots[0].next = i
	return b
}

// unlink removes a bucket from the list.
func (l *Limiter) unlink(i uint32) {
	b := &l.slots[i]
	l.slots[b.prev].next, l.slots[b.next].prev = b.next, b.prev
}
