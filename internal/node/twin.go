// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
)

// This file is about twins: two agents with one identity, because one's data
// directory is a copy of the other's (a copied disk, a restored backup, a cloned
// machine). The servers listen to the first one only. The second runs nothing:
// what it finds in its directory runs on the first one's machine.

// AgentMark tells the agents on two data directories apart, copies among them;
// one that is started again on the same directory has the same.
func AgentMark(dir string) string {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return ""
	}
	return fmt.Sprintf("%s-%x-%x", bootID(), st.Dev, st.Ino)
}

const placeKey = "place"

// notePlace notes which directory this is, and finds out whether what it holds was
// written in another one.
func (n *Node) notePlace() error {
	var st unix.Stat_t
	if err := unix.Stat(n.config.DataDir, &st); err != nil {
		return fmt.Errorf("look at the data directory: %w", err)
	}
	place := strconv.FormatUint(st.Ino, 16)
	was := n.ledger.Get(placeKey)
	n.moved = was != nil && string(was) != place
	if n.moved {
		n.log.Warn("the data directory was moved, or is a copy: what it says runs is resumed when the servers know this agent", "data_dir", n.config.DataDir)
	}
	if was == nil || n.moved {
		n.ledger.Put(placeKey, []byte(place))
	}
	return nil
}

// refusedFor is how many TTLs an agent is refused, for what it runs to be stopped.
// A machine that was restarted is refused for less than one.
const refusedFor = 2

// isTwin takes into account how the servers answered: whether another agent speaks
// for the node. It runs nothing new then, and soon nothing at all.
func (n *Node) isTwin(err error, ttl time.Duration) {
	if api.CodeOf(err) != api.CodeConflict {
		if err == nil {
			n.refused.Store(0)
		}
		return
	}
	now := n.config.Uptime()
	if n.refused.CompareAndSwap(0, max(int64(now), 1)) {
		n.log.Error("the servers do not listen to this agent", "data_dir", n.config.DataDir, "error", err)
		return
	}
	if now-time.Duration(n.refused.Load()) < refusedFor*ttl {
		return
	}
	n.mu.Lock()
	runners := n.all()
	n.mu.Unlock()
	for _, r := range runners {
		r.Fence("Stopped by its node: another agent speaks for the node, and runs what it should")
	}
}
