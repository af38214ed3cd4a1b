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

// This file handles twins: two agents with one identity, because the data directory of one
// is a copy of the other's (a copied disk, a restored backup, a cloned machine). The servers
// accept the first agent only. The second runs nothing: the allocations in its directory run
// on the first one's machine.

// AgentMark returns a mark that distinguishes agents on different data directories, including
// copies. It survives restarts of the agent on the same directory.
func AgentMark(dir string) string {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return ""
	}
	return fmt.Sprintf("%s-%x-%x", bootID(), st.Dev, st.Ino)
}

const placeKey = "place"

// notePlace records the location of the data directory, and detects whether it was written at
// another location.
func (n *Node) notePlace() error {
	var st unix.Stat_t
	if err := unix.Stat(n.config.DataDir, &st); err != nil {
		return fmt.Errorf("inspect the data directory: %w", err)
	}
	place := strconv.FormatUint(st.Ino, 16)
	was := n.ledger.Get(placeKey)
	n.moved = was != nil && string(was) != place
	if n.moved {
		n.log.Warn("the data directory was moved or copied: its allocations resume when the servers recognize this agent", "data_dir", n.config.DataDir)
	}
	if was == nil || n.moved {
		n.ledger.Put(placeKey, []byte(place))
	}
	return nil
}

// maxRejectedTTLs is the number of TTLs of rejection after which a twin stops its allocations. A
// machine that was restarted is rejected for less than one TTL.
const maxRejectedTTLs = 2

// isTwin handles the servers' answer: they may accept another agent for the node. Then this
// one starts nothing new, and soon stops everything.
func (n *Node) isTwin(err error, ttl time.Duration) {
	if api.CodeOf(err) != api.CodeConflict {
		if err == nil {
			n.rejectedSince.Store(0)
		}
		return
	}
	now := n.config.Uptime()
	if n.rejectedSince.CompareAndSwap(0, max(int64(now), 1)) {
		n.log.Error("the servers reject this agent", "data_dir", n.config.DataDir, "error", err)
		return
	}
	if now-time.Duration(n.rejectedSince.Load()) < maxRejectedTTLs*ttl {
		return
	}
	n.mu.Lock()
	runners := n.all()
	n.mu.Unlock()
	for _, r := range runners {
		r.Fence("Stopped by its node: another agent speaks for the node, and runs what it should")
	}
}
