// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"time"

	"github.com/hashicorp/raft"
)

// A leader whose disk is slow.
//
// Every write waits for the leader's disk. If other servers vote, one of them is the better
// leader. So a leader whose sync takes too long resigns, and is no candidate until its disk
// is fast again; it continues to follow and vote. While the sync hangs, raft's own loop hangs
// too and cannot resign, but its heartbeats continue and prevent an election: they are held
// back. A single server leads nevertheless, and reports that it is degraded.

// neverStands is an election timeout that never expires.
const neverStands = 24 * 365 * time.Hour

// followDisk reacts when the disk becomes slow, or fast again.
func (r *Replica) followDisk() {
	defer r.running.Done()
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	wasSlow, probed := false, time.Time{}
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
		}
		isSlow := r.disk.isSlow()
		switch {
		case isSlow && !wasSlow:
			r.logger.Warn("the disk is slow: a sync took too long", "limit", slowSync, "directory", r.config.Dir, "other_voters", r.hasOthers())
			r.stand(false)
		case !isSlow && wasSlow:
			r.logger.Info("the disk is fast again", "directory", r.config.Dir)
			r.stand(true)
		}
		wasSlow = isSlow
		if isSlow && r.hasOthers() {
			r.resign()
		}
		if isSlow && time.Since(probed) >= probeEvery && !r.disk.hangs() {
			probed = time.Now()
			_ = r.stable.Sync() // who fails says so
		}
	}
}

// hasOthers reports whether other servers vote.
func (r *Replica) hasOthers() bool {
	n := 0
	for _, s := range r.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			n++
		}
	}
	return n > 1
}

// stand sets whether this server may be a candidate. A single server always is.
func (r *Replica) stand(may bool) {
	if r.config.Transport == nil {
		return
	}
	c := r.raft.ReloadableConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = r.config.ElectionTimeout, r.config.ElectionTimeout
	if !may && r.hasOthers() {
		c.HeartbeatTimeout, c.ElectionTimeout = neverStands, neverStands
	}
	if err := r.raft.ReloadConfig(c); err != nil {
		r.logger.Error("cannot change the election timeouts", "error", err)
	}
}

// resign transfers leadership to another server, without waiting for the transfer.
func (r *Replica) resign() {
	if r.raft.State() != raft.Leader || !r.resigning.CompareAndSwap(false, true) {
		return
	}
	r.running.Add(1)
	go func() {
		defer r.running.Done()
		defer r.resigning.Store(false)
		if err := r.raft.LeadershipTransfer().Error(); err != nil && !errors.Is(err, raft.ErrNotLeader) {
			r.logger.Warn("cannot transfer leadership although the disk is slow", "error", err)
		}
	}()
}

// held is a transport that holds back heartbeats while the disk hangs, and notes the
// answers to them.
type held struct {
	raft.Transport
	disk     *pulse
	contacts *contacts
	notices  *notices
	inbox    *inbox
}

var errHeld = errors.New("the disk hangs: this server does not lead now")

// AppendEntries implements raft.Transport.
func (t *held) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if t.disk.hangs() {
		return errHeld
	}
	sent := t.contacts.stamp()
	if err := t.Transport.AppendEntries(id, target, args, resp); err != nil {
		return err
	}
	t.contacts.note(id, args.Term, sent, resp)
	return nil
}

// AppendEntriesPipeline implements raft.Transport.
func (t *held) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	p, err := t.Transport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	return &heldPipeline{t.notices.carry(p), t.disk}, nil
}

// heldPipeline does the same for the pipelines that raft uses to servers that follow
// closely: their empty messages are heartbeats too.
type heldPipeline struct {
	raft.AppendPipeline
	disk *pulse
}

// AppendEntries implements raft.AppendPipeline.
func (p *heldPipeline) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	if p.disk.hangs() {
		return nil, errHeld
	}
	return p.AppendPipeline.AppendEntries(args, resp)
}

// Close implements raft.WithClose.
func (t *held) Close() error {
	if c, ok := t.Transport.(raft.WithClose); ok {
		return c.Close()
	}
	return nil
}

// voting is a held transport that supports pre-votes.
type voting struct {
	*held
	raft.WithPreVote
}

// hold wraps the transport in a held one.
func hold(t raft.Transport, disk *pulse, contacts *contacts, notices *notices, inbox *inbox) raft.Transport {
	h := &held{t, disk, contacts, notices, inbox}
	if asks, ok := t.(raft.WithPreVote); ok {
		return voting{h, asks}
	}
	return h
}
