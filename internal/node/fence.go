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

// contact is the time of the servers' last answer. It is recorded while an allocation with
// stop_on_client_after runs, so that an agent that starts without servers knows how long
// they have been silent.
type contact struct {
	Boot   string        // of the machine
	Uptime time.Duration // of the machine; includes suspension, and cannot be set
	Wall   time.Time     // used after a restart of the machine, which resets Uptime
}

const contactKey = "contact"

// fenceInterval bounds the delay of a fence. Timers stop while the machine is suspended; a
// periodic look at the clock does not depend on them.
const fenceInterval = time.Second

// uptime returns how long the machine has been up, including suspension.
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

// loadContact reads the time of the servers' last answer to an earlier agent. Without a
// record it is the current time.
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

// answered notes that the servers answered a request that was sent at the given uptime.
func (n *Node) answered(sent time.Duration) {
	n.contact.Store(int64(sent))
	if n.nextFence() >= 0 {
		n.recordContact()
	}
}

// recordContact writes the last contact to the ledger.
func (n *Node) recordContact() {
	at := time.Duration(n.contact.Load())
	data, err := json.Marshal(contact{Boot: bootID(), Uptime: at, Wall: time.Now().Add(at - n.config.Uptime())})
	if err != nil {
		n.log.Error("cannot encode the last contact", "error", err)
		return
	}
	n.ledger.Put(contactKey, data)
}

// keepFenced stops allocations with stop_on_client_after whose time without an answer from
// the servers is over. By then the servers may run replacements.
func (n *Node) keepFenced(ctx context.Context) {
	for {
		n.fence()
		wait := n.nextFence()
		if wait < 0 || wait > fenceInterval {
			wait = fenceInterval
		}
		if !sleep(ctx, wait) {
			return
		}
	}
}

// A leash is the limit on an allocation's time without servers.
type leash struct {
	r     *runner.Runner
	after time.Duration // the limit
	since time.Duration // uptime at which the servers last confirmed the allocation
}

// left returns the remaining time if no server answers.
func (l leash) left(now time.Duration) time.Duration { return max(0, l.since+l.after-now) }

// fence stops the allocations whose limit is over.
func (n *Node) fence() {
	now := n.config.Uptime()
	for _, l := range n.leashes() {
		if l.left(now) == 0 {
			n.log.Warn("no server answers: stopping an allocation", "allocation", l.r.ID(), "since", (now - l.since).Round(time.Millisecond), "stop_on_client_after", l.after)
			l.r.Fence(fmt.Sprintf("Stopped by its node: no server answered for %s (stop_on_client_after)", l.after))
		}
	}
}

// nextFence returns the time until the next allocation must be stopped if no server answers;
// negative if no allocation has a limit.
func (n *Node) nextFence() time.Duration {
	now, next := n.config.Uptime(), time.Duration(-1)
	for _, l := range n.leashes() {
		if left := l.left(now); next < 0 || left < next {
			next = left
		}
	}
	return next
}

// beatFor returns the longest time until the next heartbeat: a third of the TTL, and of the
// shortest limit of an allocation.
func (n *Node) beatFor(ttl time.Duration) time.Duration {
	for _, l := range n.leashes() {
		ttl = min(ttl, max(l.after, shortestLeash))
	}
	return ttl / 3
}

// shortestLeash bounds the rate of heartbeats.
const shortestLeash = time.Second

// leashes returns the allocations with limits. An allocation that arrived after the last
// answered heartbeat was confirmed when it arrived: servers that return after an outage send
// allocations first.
func (n *Node) leashes() []leash {
	n.mu.Lock()
	runners, came := n.all(), maps.Clone(n.arrivals)
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

// leashed notes the arrival of an allocation with a limit, and schedules the next heartbeat
// in time. The mutex is held.
func (n *Node) leashed(r *runner.Runner) {
	if r.FencedAfter() == 0 {
		return
	}
	n.arrivals[r.ID()] = n.config.Uptime()
	n.recordContact()
	n.beatSoon()
}

// beatSoon sends a heartbeat immediately, or registers the node if it is not registered.
func (n *Node) beatSoon() {
	select {
	case n.beat <- struct{}{}:
	default:
	}
}
