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
// Every write waits for the leader's disk. If other servers vote, one of them
// is the better leader, so a leader whose sync takes too long gives leadership
// up, and stands for none until its disk is quick again: it goes on following
// and voting. While the sync hangs, raft's own loop hangs in it and can give up
// nothing; but its heartbeats go on, and keep the others from electing. They are
// held back. A server that is alone leads all the same, and says that it is
// degraded.

// neverStands is an election timeout that does not come.
const neverStands = 24 * 365 * time.Hour

// followDisk acts when the disk becomes slow, or quick again.
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
			r.logger.Info("the disk is quick again", "directory", r.config.Dir)
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

// stand says whether this server may stand for leadership; alone, it always
// does.
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
		r.logger.Error("election timeouts cannot be changed", "error", err)
	}
}

// resign gives leadership to another server, without waiting for that.
func (r *Replica) resign() {
	if r.raft.State() != raft.Leader || !r.resigning.CompareAndSwap(false, true) {
		return
	}
	r.running.Add(1)
	go func() {
		defer r.running.Done()
		defer r.resigning.Store(false)
		if err := r.raft.LeadershipTransfer().Error(); err != nil && !errors.Is(err, raft.ErrNotLeader) {
			r.logger.Warn("leadership was not given up though the disk is slow", "error", err)
		}
	}()
}

// held is a transport that holds heartbeats back while the disk hangs.
type held struct {
	raft.Transport
	disk *pulse
}

var errHeld = errors.New("the disk hangs: this server does not lead now")

// AppendEntries implements raft.Transport.
func (t *held) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if t.disk.hangs() {
		return errHeld
	}
	return t.Transport.AppendEntries(id, target, args, resp)
}

// AppendEntriesPipeline implements raft.Transport.
func (t *held) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	p, err := t.Transport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	return &heldPipeline{p, t.disk}, nil
}

// heldPipeline is held, for the pipelines that raft uses once a server follows
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

// voting is one that asks before it stands.
type voting struct {
	*held
	raft.WithPreVote
}

// hold returns the transport with heartbeats held back while the disk hangs.
func hold(t raft.Transport, disk *pulse) raft.Transport {
	h := &held{t, disk}
	if asks, ok := t.(raft.WithPreVote); ok {
		return voting{h, asks}
	}
	return h
}
