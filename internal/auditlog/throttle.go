// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/limit"
)

const (
	failuresPerSecond = 10   // of one caller at one address that have records of their own
	failingCallers    = 1000 // per second that are counted apart; all others share one count
)

// A throttle bounds the records of failed requests. Callers are known by their address and identity: a
// stranger must not hide the failures of another.
type throttle struct {
	mu     sync.Mutex
	second int64 // Unix time of the tallies
	seen   map[failing]*tally
}

// failing is a caller whose requests fail; the zero value stands for those beyond failingCallers.
type failing struct{ address, kind, accessor string }

type tally struct {
	count int
	last  *api.RequestRecord // without a record of its own; nil: all have one
}

// admit reports whether the record of a failed request is stored.
func (t *throttle) admit(r *api.RequestRecord) bool {
	key := failing{limit.AddressKey(r.Address), r.Caller, r.Accessor}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[failing]*tally{}
		t.second = r.Time.Unix()
	}
	s := t.seen[key]
	if s == nil && len(t.seen) >= failingCallers {
		key = failing{}
		s = t.seen[key]
	}
	if s == nil {
		s = &tally{}
		t.seen[key] = s
	}
	if s.count++; s.count <= failuresPerSecond {
		return true
	}
	s.last = r
	return false
}

// roll begins another second, and returns records of the last one: each counts the failed requests of
// a caller that have none of their own, and describes the last of them.
func (t *throttle) roll(now time.Time) (summaries []*api.RequestRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil || now.Unix() <= t.second {
		return nil
	}
	for s := range maps.Values(t.seen) {
		if s.last != nil {
			s.last.Repeated = s.count - failuresPerSecond
			summaries = append(summaries, s.last)
		}
	}
	t.seen = nil
	slices.SortFunc(summaries, func(a, b *api.RequestRecord) int { return a.Time.Compare(b.Time) })
	return summaries
}
