// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Limiter has a bucket for each key. It is safe for concurrent use.
type Limiter struct {
	each  rate.Limit // events per second that refill a bucket
	burst int        // size of a bucket
	keys  int        // most keys that are remembered

	mu      sync.Mutex
	buckets map[string]*list.Element
	recent  list.List // of *bucket, the last used first
}

type bucket struct {
	key    string
	tokens *rate.Limiter
}

// New returns a limiter of events per second, with bursts, for the keys that were used last.
func New(each float64, burst, keys int) *Limiter {
	return &Limiter{each: rate.Limit(each), burst: burst, keys: keys, buckets: map[string]*list.Element{}}
}

// Take takes an event of a key. It returns 0 if the event is permitted, and otherwise the time after which
// the next one is.
func (l *Limiter) Take(key string, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.bucket(key).ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// bucket returns the bucket of a key. The caller holds mu.
func (l *Limiter) bucket(key string) *rate.Limiter {
	if known, ok := l.buckets[key]; ok {
		l.recent.MoveToFront(known)
		return known.Value.(*bucket).tokens
	}
	if len(l.buckets) >= l.keys {
		oldest := l.recent.Back()
		delete(l.buckets, l.recent.Remove(oldest).(*bucket).key)
	}
	b := &bucket{key, rate.NewLimiter(l.each, l.burst)}
	l.buckets[key] = l.recent.PushFront(b)
	return b.tokens
}

// AddressKey returns the key of a remote address, host:port. The addresses of an IPv6 network of 64 bits
// share a key, because one machine has all of them.
func AddressKey(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return ""
	}
	address := at.Addr().Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	network, err := address.Prefix(64)
	if err != nil {
		return ""
	}
	return network.String()
}
