// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"errors"
	"sort"
	"sync"
)

// Errors of the change feed.
var (
	// ErrFellBehind reports that changes were dropped before the subscriber received them,
	// or that the state was replaced: start again from a snapshot.
	ErrFellBehind = errors.New("subscriber fell behind the change feed: start again from a snapshot")
	// ErrHistoryGone reports that the feed no longer holds the requested changes.
	ErrHistoryGone = errors.New("change feed no longer holds the changes since that index: start again from a snapshot")
	// ErrClosed reports that the subscription was closed.
	ErrClosed = errors.New("subscription is closed")
)

// Bounds of the feed's history; the first one reached applies. The history keeps deleted
// and replaced objects alive. New objects are in the state anyway, so a million placements
// weigh no more than fifty thousand reports. Within the bounds of bytes, the history weighs at
// most a share of the state: busy clusters are large, and a small server stays small.
const (
	feedBatches   = 1 << 15
	feedMinBytes  = 4 << 20
	feedMaxBytes  = 64 << 20
	feedPartition = 16 // of the state's weight
)

// historyBytes returns the bound of the history's weight.
func (c *content) historyBytes() int {
	return min(max(c.weight()/feedPartition, feedMinBytes), feedMaxBytes)
}

// A feed is the recent history: a ring of the last batches, numbered from the start of the
// process. Subscribers hold a number, not the batches, so an idle subscriber costs
// nothing.
type feed struct {
	mu    sync.Mutex
	ring  []*Batch      // its length is a power of two
	first uint64        // number of the oldest batch in the ring
	next  uint64        // number of the next batch
	base  uint64        // index of the last entry that is no longer held
	bytes int           // weight of all batches in the ring
	more  chan struct{} // closed by the next batch; nil if no subscriber waits
}

func (f *feed) init() { f.ring = make([]*Batch, 64) }

func (f *feed) at(n uint64) **Batch { return &f.ring[n&uint64(len(f.ring)-1)] }

// publish appends a batch and drops batches beyond the bounds. The history may weigh so many
// bytes.
func (f *feed) publish(b *Batch, bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next-f.first == uint64(len(f.ring)) {
		ring := make([]*Batch, 2*len(f.ring))
		for n := f.first; n < f.next; n++ {
			ring[n&uint64(len(ring)-1)] = *f.at(n)
		}
		f.ring = ring
	}
	*f.at(f.next) = b
	f.next++
	b.bytes = b.weight()
	f.bytes += b.bytes
	for f.next-f.first > feedBatches || f.bytes > bytes && f.next-f.first > 1 {
		f.drop()
	}
	f.wake()
}

func (f *feed) drop() {
	oldest := f.at(f.first)
	f.bytes -= (*oldest).bytes
	f.base = (*oldest).Index
	*oldest = nil
	f.first++
}

func (f *feed) wake() {
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}

// reset clears the history after the state was replaced by the state at index.
func (f *feed) reset(index uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.first < f.next {
		f.drop()
	}
	f.first++ // subscribers that wait for the next batch have missed changes
	f.next++
	f.base = index
	f.wake()
}

// A Subscription is one reader's position in the change feed. One goroutine may use it at
// a time.
type Subscription struct {
	feed   *feed
	next   uint64
	closed chan struct{}
	once   sync.Once
}

// Subscribe follows the changes from now on. A snapshot taken afterwards holds everything
// before the first batch, and perhaps more: skip batches whose Index is not above the
// snapshot's.
func (s *Store) Subscribe() *Subscription {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	return &Subscription{feed: &s.feed, next: s.feed.next, closed: make(chan struct{})}
}

// SubscribeFrom follows the changes after index. It returns ErrHistoryGone if the history
// does not reach back that far.
func (s *Store) SubscribeFrom(index uint64) (*Subscription, error) {
	f := &s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if index < f.base {
		return nil, ErrHistoryGone
	}
	return &Subscription{feed: f, next: f.after(index), closed: make(chan struct{})}, nil
}

// after returns the number of the first batch above index, existing or future.
func (f *feed) after(index uint64) uint64 {
	held := int(f.next - f.first)
	return f.first + uint64(sort.Search(held, func(i int) bool { return (*f.at(f.first + uint64(i))).Index > index }))
}

// BatchAfter returns the first batch above index. It returns nil if the history ends at index,
// and ErrHistoryGone if it does not reach back that far. It serves readers that store only an
// index.
func (s *Store) BatchAfter(index uint64) (*Batch, error) {
	f := &s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if index < f.base {
		return nil, ErrHistoryGone
	}
	if n := f.after(index); n < f.next {
		return *f.at(n), nil
	}
	return nil, nil
}

// HistoryTo returns the index of the newest batch in the feed. The state may be one entry
// ahead of it.
func (s *Store) HistoryTo() uint64 {
	f := &s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == f.next {
		return f.base
	}
	return (*f.at(f.next - 1)).Index
}

// HistoryFrom returns the lowest index that SubscribeFrom accepts.
func (s *Store) HistoryFrom() uint64 {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	return s.feed.base
}

// Next waits for the next batch and returns it. After ErrFellBehind, the subscription is
// unusable.
func (u *Subscription) Next(ctx context.Context) (*Batch, error) {
	for {
		b, more, err := u.take()
		if b != nil || err != nil {
			return b, err
		}
		select {
		case <-more:
		case <-u.closed:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take returns the next batch, or a channel that is closed when the batch exists.
func (u *Subscription) take() (*Batch, <-chan struct{}, error) {
	f := u.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case u.next < f.first:
		return nil, nil, ErrFellBehind
	case u.next < f.next:
		b := *f.at(u.next)
		u.next++
		return b, nil, nil
	}
	if f.more == nil {
		f.more = make(chan struct{})
	}
	return nil, f.more, nil
}

// Close ends the subscription; a waiting Next returns ErrClosed.
func (u *Subscription) Close() { u.once.Do(func() { close(u.closed) }) }
