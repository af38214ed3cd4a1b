// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"sync"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// An ends listens for the ends of links, as long as somebody waits for one. The kernel tells the end of a link after two
// milliseconds, when nothing finds it any more; the call that removes it returns some twenty later, when its memory
// may be freed.
type ends struct {
	mu    sync.Mutex
	waits map[int32]chan struct{} // by the link's index
	stop  chan struct{}           // ends the subscription
	late  sync.WaitGroup          // calls that have not returned, and the listener
}

// wait returns a channel that is closed when the link has ended, unless the kernel cannot tell. The caller is in the
// namespace of the link, and calls forget when it does not wait any more.
func (e *ends) wait(index int) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stop == nil && !e.listen() {
		return nil
	}
	ended := make(chan struct{})
	e.waits[int32(index)] = ended
	return ended
}

// listen begins to listen. The caller holds mu.
func (e *ends) listen() bool {
	updates, stop := make(chan netlink.LinkUpdate), make(chan struct{})
	if err := netlink.LinkSubscribeWithOptions(updates, stop, netlink.LinkSubscribeOptions{}); err != nil {
		return false
	}
	e.stop, e.waits = stop, map[int32]chan struct{}{}
	e.late.Go(func() {
		for u := range updates {
			// A port of a bridge also ends, in the family of bridges, when it leaves the bridge.
			if u.Header.Type == unix.RTM_DELLINK && u.Family == unix.AF_UNSPEC {
				e.tell(u.Index)
			}
		}
		e.end(stop) // too many links change: who waits does so for the call
	})
	return true
}

func (e *ends) tell(index int32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ended := e.waits[index]; ended != nil {
		close(ended)
		e.waits[index] = nil
	}
}

// forget ends the wait for a link, and the subscription with the last one.
func (e *ends) forget(index int) {
	e.mu.Lock()
	stop := e.stop
	delete(e.waits, int32(index))
	last := len(e.waits) == 0
	e.mu.Unlock()
	if last {
		e.end(stop)
	}
}

// end ends a subscription, once.
func (e *ends) end(stop chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if stop != nil && e.stop == stop {
		close(stop)
		e.stop = nil
	}
}
