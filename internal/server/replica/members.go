// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/api"
)

// Peer is a server of the log's configuration.
type Peer struct {
	ID      string
	Address string // host:port
	Voter   bool
}

// Servers returns the servers of the newest configuration that this server knows, in the
// order in which they were added.
func (r *Replica) Servers() ([]Peer, error) {
	future := r.raft.GetConfiguration()
	if err := future.Error(); err != nil {
		return nil, r.explain(err)
	}
	var peers []Peer
	for _, s := range future.Configuration().Servers {
		peers = append(peers, Peer{ID: string(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter})
	}
	return peers, nil
}

// ConfigurationIndex returns the index of the newest committed configuration.
func (r *Replica) ConfigurationIndex() uint64 { return r.machine.configured.Load() }

// peer returns a configured server.
func (r *Replica) peer(id string) (Peer, bool) {
	peers, _ := r.Servers()
	for _, p := range peers {
		if p.ID == id {
			return p, true
		}
	}
	return Peer{}, false
}

// AddNonvoter adds a server that gets the log and does not vote. It changes the address of
// one that the configuration has already; a voter remains a voter.
func (r *Replica) AddNonvoter(ctx context.Context, id, address string) error {
	if p, ok := r.peer(id); ok {
		if p.Address == address {
			return nil
		}
		if p.Voter {
			return r.AddVoter(ctx, id, address)
		}
	}
	return r.reconfigure(ctx, fmt.Sprintf("add server %s", id), func(wait time.Duration) raft.Future {
		return r.raft.AddNonvoter(raft.ServerID(id), raft.ServerAddress(address), 0, wait)
	})
}

// AddVoter adds a server that votes, makes a server a voter, or changes a voter's address.
func (r *Replica) AddVoter(ctx context.Context, id, address string) error {
	return r.reconfigure(ctx, fmt.Sprintf("make server %s a voter", id), func(wait time.Duration) raft.Future {
		return r.raft.AddVoter(raft.ServerID(id), raft.ServerAddress(address), 0, wait)
	})
}

// Remove removes a server. It must not be the last voter. If it is this server, it stops
// leading.
func (r *Replica) Remove(ctx context.Context, id string) error {
	peers, err := r.Servers()
	if err != nil {
		return err
	}
	found, others := false, 0
	for _, p := range peers {
		if p.ID == id {
			found = true
		} else if p.Voter {
			others++
		}
	}
	if !found {
		return api.Errorf(api.CodeNotFound, "server %q not found: see reeve server list", id)
	}
	if others == 0 {
		return api.Errorf(api.CodeConflict, "server %s is the only voter: the cluster would be lost with it; add another server first", api.ShortID(id))
	}
	return r.reconfigure(ctx, fmt.Sprintf("remove server %s", id), func(wait time.Duration) raft.Future {
		return r.raft.RemoveServer(raft.ServerID(id), 0, wait)
	})
}

// reconfigureTimeout bounds the wait for an earlier change of the configuration.
const reconfigureTimeout = 10 * time.Second

// reconfigure returns when the new configuration is committed.
func (r *Replica) reconfigure(ctx context.Context, what string, change func(wait time.Duration) raft.Future) error {
	if !r.leading.Load() {
		return r.notLeading()
	}
	return r.await(ctx, func() error {
		err := change(reconfigureTimeout).Error()
		if errors.Is(err, raft.ErrEnqueueTimeout) {
			return api.Errorf(api.CodeUnavailable, "cannot %s: an earlier change of the servers is not committed after %s; check that a majority of the servers runs", what, reconfigureTimeout)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, r.explain(err))
		}
		return nil
	})
}

// await runs f, and returns early if ctx ends.
func (r *Replica) await(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	r.running.Add(1)
	go func() {
		defer r.running.Done()
		done <- f()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Transfer hands leadership to another voter; to the one with the most complete log if id
// is "". It returns when this server no longer leads.
func (r *Replica) Transfer(ctx context.Context, id string) error {
	if !r.leading.Load() {
		return r.notLeading()
	}
	if id == r.ServerID() {
		return nil
	}
	start := r.raft.LeadershipTransfer
	if id != "" {
		p, ok := r.peer(id)
		switch {
		case !ok:
			return api.Errorf(api.CodeNotFound, "server %q not found: see reeve server list", id)
		case !p.Voter:
			return api.Errorf(api.CodeConflict, "server %s does not vote yet: leadership can only go to a voter", api.ShortID(id))
		}
		start = func() raft.Future {
			return r.raft.LeadershipTransferToServer(raft.ServerID(id), raft.ServerAddress(p.Address))
		}
	} else if !r.hasOthers() {
		return api.Errorf(api.CodeConflict, "leadership cannot be transferred: no other server votes; add one first")
	}
	return r.await(ctx, func() error {
		err := start().Error()
		if err != nil && !errors.Is(err, raft.ErrNotLeader) {
			return api.Errorf(api.CodeUnavailable, "leadership was not transferred: %v; this server still leads", err)
		}
		return nil
	})
}

// outsideAfter is the silence after which a server that the configuration lacks takes
// itself for removed. The log of a new server may contain older configurations without it,
// but its leader keeps in contact.
const outsideAfter = 5 * time.Second

// MarkRemoved records that another server refused this one because it was removed. The log of a
// removed server need not contain its removal.
func (r *Replica) MarkRemoved() { r.removed.Store(true) }

// WasRemoved reports whether another server refused this one because it was removed.
func (r *Replica) WasRemoved() bool { return r.removed.Load() && r.IsOutside() }

// IsOutside reports whether the cluster's configuration lacks this server: it was removed.
func (r *Replica) IsOutside() bool {
	if r.config.Transport == nil || time.Since(r.raft.LastContact()) < outsideAfter {
		return false
	}
	if r.removed.Load() {
		return true
	}
	if time.Since(r.opened) < outsideAfter {
		return false
	}
	peers, err := r.Servers()
	if err != nil || len(peers) == 0 {
		return false
	}
	for _, p := range peers {
		if p.ID == r.ServerID() {
			return false
		}
	}
	return true
}

// IsEmpty reports whether the log has no configuration yet: this server waits until a
// leader adds it.
func (r *Replica) IsEmpty() bool {
	peers, err := r.Servers()
	return err == nil && len(peers) == 0
}

// correctAddress records this leader's address in the configuration if it has changed since
// the server was added.
func (r *Replica) correctAddress() {
	p, ok := r.peer(r.ServerID())
	if r.config.Transport == nil || !ok || !p.Voter {
		return
	}
	own := string(r.config.Transport.LocalAddr())
	if p.Address == own {
		return
	}
	r.logger.Info("this server's address changed: record it", "from", p.Address, "to", own)
	if err := r.AddVoter(context.Background(), p.ID, own); err != nil {
		r.logger.Warn("cannot record this server's new address: the next leader tries again", "error", err)
	}
}
