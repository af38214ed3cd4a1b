// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/runner"
)

// contact is when the servers last answered the node. It is on record while
// something runs that may not run for long without them, so that an agent which
// starts without servers knows how long that has been.
type contact struct {
	Boot   string        // of the machine
	Uptime time.Duration // of the machine; runs while it is suspended, and nobody sets it
	Wall   time.Time     // for after the machine's restart, when Uptime says nothing
}

const contactKey = "contact"

// fenceEvery bounds how late a fence may fall. Timers stand still while the
// machine is suspended; looking at the clock does not.
const fenceEvery = time.Second

// uptime is how long the machine has been up, with the time it was suspended.
func uptime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// loadContact reads when an earlier agent was last answered. Without a record
// it is now.
func (n *Node) loadContact() {
	n.contact.Store(int64(n.config.Uptime()))
	var c contact
	if data := n.ledger.Get(contactKey); data == nil || json.Unmarshal(data, &c) != nil {
		return
	}
	if c.Boot == bootID() {
		n.contact.Store(int64(c.Uptime))
		return
	}
	n.contact.Store(int64(n.config.Uptime() - max(0, time.Since(c.Wall))))
}

// answered notes that the servers answered what was sent at a time of the
// machine's.
func (n *Node) answered(sent time.Duration) {
	n.contact.Store(int64(sent))
	if n.nextFence() >= 0 {
		n.recordContact()
	}
}

// recordContact puts the last contact on record.
func (n *Node) recordContact() {
	at := time.Duration(n.contact.Load())
	data, err := json.Marshal(contact{Boot: bootID(), Uptime: at, Wall: time.Now().Add(at - n.config.Uptime())})
	if err != nil {
		n.log.Error("encode the last contact", "error", err)
		return
	}
	n.ledger.Put(contactKey, data)
}

// keepFenced stops, while no server answers, the allocations whose groups do
// not let them run on for so long. By then the servers may run others in their
// place.
func (n *Node) keepFenced(ctx context.Context) {
	for {
		n.fence()
		wait := n.nextFence()
		if wait < 0 || wait > fenceEvery {
			wait = fenceEvery
		}
		if !sleep(ctx, wait) {
			return
		}
	}
}

// A leash is an allocation that may not run for ever without servers.
type leash struct {
	r     *runner.Runner
	after time.Duration // it may run for so long
	since time.Duration // uptime when the servers last spoke for it
}

// left is how long the allocation may run on if no server answers.
func (l leash) left(now time.Duration) time.Duration { return max(0, l.since+l.after-now) }

// fence stops what may not run any longer.
func (n *Node) fence() {
	now := n.config.Uptime()
	for _, l := range n.leashes() {
		if l.left(now) == 0 {
			n.log.Warn("no server answers: stopping an allocation", "allocation", l.r.ID(), "since", (now - l.since).Round(time.Millisecond), "stop_on_client_after", l.after)
			l.r.Fence(fmt.Sprintf("Stopped by its node: no server answered for %s (stop_on_client_after)", l.after))
		}
	}
}

// nextFence is how long it is until something has to be stopped if no server
// answers; negative when nothing has.
func (n *Node) nextFence() time.Duration {
	now, next := n.config.Uptime(), time.Duration(-1)
	for _, l := range n.leashes() {
		if left := l.left(now); next < 0 || left < next {
			next = left
		}
	}
	return next
}

// beatFor is how long the node may wait for its next heartbeat: a third of the TTL,
// and of the time that anything may run without one.
func (n *Node) beatFor(ttl time.Duration) time.Duration {
	for _, l := range n.leashes() {
		ttl = min(ttl, max(l.after, shortestLeash))
	}
	return ttl / 3
}

// shortestLeash bounds how often heartbeats are sent.
const shortestLeash = time.Second

// leashes lists the allocations that may not run for ever without servers. One that
// came after the last heartbeat was answered, as the first thing that servers say
// who were away, was spoken for when it came.
func (n *Node) leashes() []leash {
	n.mu.Lock()
	runners, came := n.all(), maps.Clone(n.came)
	n.mu.Unlock()
	contact := time.Duration(n.contact.Load())
	var list []leash
	for _, r := range runners {
		if after := r.FencedAfter(); after > 0 {
			list = append(list, leash{r: r, after: after, since: max(contact, came[r.ID()])})
		}
	}
	return list
}

// leashed notes that an allocation came that may not run for ever without servers,
// and has the next heartbeat sent in time. The mutex is held.
func (n *Node) leashed(r *runner.Runner) {
	if r.FencedAfter() == 0 {
		return
	}
	n.came[r.ID()] = n.config.Uptime()
	n.recordContact()
	n.beatSoon()
}

// beatSoon has a heartbeat sent at once, or the node registered if it is not.
func (n *Node) beatSoon() {
	select {
	case n.beat <- struct{}{}:
	default:
	}
}
