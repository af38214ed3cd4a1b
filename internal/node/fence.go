// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"fmt"
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
	if n.nextFence() < 0 {
		return
	}
	data, err := json.Marshal(contact{Boot: bootID(), Uptime: sent, Wall: time.Now()})
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

// fence stops what may not run any longer.
func (n *Node) fence() {
	silent := n.config.Uptime() - time.Duration(n.contact.Load())
	for r, after := range n.fenced() {
		if silent >= after {
			n.log.Warn("no server answers: stopping an allocation", "allocation", r.ID(), "since", silent.Round(time.Millisecond), "stop_on_client_after", after)
			r.Fence(fmt.Sprintf("Stopped by its node: no server answered for %s (stop_on_client_after)", after))
		}
	}
}

// nextFence is how long it is until something has to be stopped if no server
// answers; negative when nothing has.
func (n *Node) nextFence() time.Duration {
	silent, next := n.config.Uptime()-time.Duration(n.contact.Load()), time.Duration(-1)
	for _, after := range n.fenced() {
		if left := max(0, after-silent); next < 0 || left < next {
			next = left
		}
	}
	return next
}

// fenced are the allocations that may not run for ever without servers, and
// for how long they may.
func (n *Node) fenced() map[*runner.Runner]time.Duration {
	n.mu.Lock()
	runners := n.all()
	n.mu.Unlock()
	var list map[*runner.Runner]time.Duration
	for _, r := range runners {
		if after := r.FencedAfter(); after > 0 {
			if list == nil {
				list = map[*runner.Runner]time.Duration{}
			}
			list[r] = after
		}
	}
	return list
}
