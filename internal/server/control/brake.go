// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import "time"

const (
	// brakeBurst is the number of actions on one key that the brake never delays.
	brakeBurst = 256
	// brakePace is the time between two actions on one key after a burst.
	brakePace = 50 * time.Millisecond
)

// A brake bounds the pace of the actions on each key. A controller that proposes a command whenever
// its last one was applied, without reaching its goal, would otherwise write the log as fast as the disk allows.
//
// The brake holds the time until which the actions on a key are paid at brakePace. A key may be ahead
// of the clock by a burst.
type brake struct {
	paid   map[string]time.Time
	forgot time.Time // last time that keys were forgotten
}

// release returns the earliest time of the next action on a key.
func (b *brake) release(key string, now time.Time) time.Time {
	if paid := b.paid[key]; paid.After(now) {
		return paid.Add(-(brakeBurst - 1) * brakePace)
	}
	return now
}

// charge counts an action on a key.
func (b *brake) charge(key string, now time.Time) {
	paid := b.paid[key]
	if paid.Before(now) {
		paid = now
	}
	b.paid[key] = paid.Add(brakePace)
}

// forget deletes the keys that are not ahead of the clock, at most once per pace.
func (b *brake) forget(now time.Time) {
	if now.Sub(b.forgot) < brakePace {
		return
	}
	b.forgot = now
	for key, paid := range b.paid {
		if !paid.After(now) {
			delete(b.paid, key)
		}
	}
}
