// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package quota computes how much of their quotas namespaces have left. It is pure: workers, the
// applier and the broker ask it with the same state, and so agree.
//
// A placement takes from a budget as soon as it is decided, and stops give back only what they take
// from the state in the same entry. Placements that are being written count in full, without the
// stops of their entries: no order of entries in flight exceeds a limit.
package quota

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A Reader provides quotas and their usage. A state.Snapshot is a Reader.
type Reader interface {
	// QuotasOf returns the names of the quotas that limit a namespace.
	QuotasOf(namespace string) []string
	// Quota returns the quota of a name, or nil.
	Quota(name string) *api.Quota
	// QuotaUsed returns what counts against a quota, by node pool.
	QuotaUsed(name string) map[string]api.QuotaUse
}

// A Ledger computes budgets on one state. Budgets of namespaces with a common quota share the
// rest of it.
type Ledger struct {
	reader Reader
	rooms  map[string][]*room // by quota
	known  map[string]*Budget // by namespace
}

// A Budget holds the rest of the quotas of a namespace. A nil Budget is unlimited.
type Budget struct {
	ledger *Ledger
	rooms  []*room
}

// A room is one limit with its usage.
type room struct {
	api.QuotaRoom
	used api.QuotaUse
}

// NewLedger returns a ledger of the state.
func NewLedger(r Reader) *Ledger {
	return &Ledger{reader: r, rooms: map[string][]*room{}, known: map[string]*Budget{}}
}

// New returns the budget of a namespace; nil if no quota limits it.
func New(r Reader, namespace string) *Budget {
	if len(r.QuotasOf(namespace)) == 0 {
		return nil
	}
	return NewLedger(r).Budget(namespace)
}

// Budget returns the budget of a namespace; nil if no quota limits it.
func (l *Ledger) Budget(namespace string) *Budget {
	if b, known := l.known[namespace]; known {
		return b
	}
	names := l.reader.QuotasOf(namespace)
	if len(names) == 0 {
		l.known[namespace] = nil
		return nil
	}
	b := &Budget{ledger: l}
	l.known[namespace] = b
	for _, name := range names {
		rooms, known := l.rooms[name]
		if !known {
			rooms = l.load(name)
			l.rooms[name] = rooms
		}
		b.rooms = append(b.rooms, rooms...)
	}
	return b
}

func (l *Ledger) load(name string) (rooms []*room) {
	q := l.reader.Quota(name)
	if q == nil {
		return nil
	}
	used := l.reader.QuotaUsed(name)
	for _, limits := range q.Rooms() {
		r := &room{QuotaRoom: limits}
		for pool, use := range used {
			if r.Counts(pool) {
				r.used = r.used.Add(use)
			}
		}
		rooms = append(rooms, r)
	}
	return rooms
}

// Take counts an amount of a job in a node pool as used.
func (b *Budget) Take(use api.QuotaUse, pool string) {
	for _, r := range b.rooms {
		if r.Counts(pool) {
			r.used = r.used.Add(use)
		}
	}
}

// Return undoes Take, or frees what a stopped allocation uses.
func (b *Budget) Return(use api.QuotaUse, pool string) {
	for _, r := range b.rooms {
		if r.Counts(pool) {
			r.used = r.used.Sub(use)
		}
	}
}

// Reserve counts an allocation that is not in the state yet, of any namespace.
func (b *Budget) Reserve(a *api.Allocation) {
	names := b.ledger.reader.QuotasOf(a.Namespace)
	if len(names) == 0 {
		return
	}
	use, pool := a.QuotaNeed()
	for _, r := range b.rooms {
		if r.Counts(pool) && slices.Contains(names, r.Quota) {
			r.used = r.used.Add(use)
		}
	}
}

// Obstacles returns the limits that an amount exceeds.
func (b *Budget) Obstacles(use api.QuotaUse, pool string) (all []api.QuotaObstacle) {
	if b == nil {
		return nil
	}
	for _, r := range b.rooms {
		if r.Counts(pool) {
			all = append(all, r.QuotaRoom.Obstacles(r.used, use)...)
		}
	}
	return all
}

// Copies returns how many times an amount fits, at most most.
func (b *Budget) Copies(use api.QuotaUse, pool string, most int64) int64 {
	if b == nil {
		return most
	}
	for _, r := range b.rooms {
		if r.Counts(pool) {
			most = r.QuotaRoom.Copies(r.used, use, most)
		}
	}
	return most
}
