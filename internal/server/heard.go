// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/state"
)

// maxHeard bounds the heartbeats of one message between servers.
const maxHeard = 1 << 16

// HeartbeatTTL returns the longest time between two heartbeats of a node.
func (s *Server) HeartbeatTTL() time.Duration { return s.cfg.HeartbeatTTL }

// Heard records that nodes are alive which are connected to any server of the cluster: all that
// sent a heartbeat since the last message of that server. Nodes that were down become ready.
// Only the leader answers. If some of the nodes wait for their first message, the answer's index
// is one that the leader confirmed with a majority: a state as new as that contains every message
// that the nodes received from other servers.
func (s *Server) Heard(ctx context.Context, beats *nodeproto.Heartbeats) (*nodeproto.HeartbeatsResult, error) {
	switch {
	case len(beats.Nodes) > maxHeard:
		return nil, api.Errorf(api.CodeTooLarge, "the message has the heartbeats of %d nodes: send at most %d", len(beats.Nodes), maxHeard)
	case len(beats.Agents) != len(beats.Nodes):
		return nil, api.Errorf(api.CodeInvalid, "the message has %d nodes and %d agents: send one agent per node", len(beats.Nodes), len(beats.Agents))
	case !s.IsLeader():
		return nil, errNoLeader
	}
	if beats.Arriving {
		if _, err := s.ReadIndex(ctx); err != nil {
			return nil, err
		}
	}
	snap, now := s.store.Snapshot(), time.Now()
	result := &nodeproto.HeartbeatsResult{Index: snap.Index(), TtlMs: uint64(s.cfg.HeartbeatTTL.Milliseconds())}
	for i, packed := range beats.Nodes {
		if err := s.hear(snap, nodeproto.UnpackID(packed), string(beats.Agents[i]), now); err != nil {
			result.Rejected = append(result.Rejected, &nodeproto.Rejection{Position: uint32(i), Failure: nodeproto.FailureOf(err)})
		}
	}
	return result, nil
}

// hear records that a node is alive. It does not wait until a node that was down is ready: its
// next heartbeat tries again.
func (s *Server) hear(snap *state.Snapshot, nodeID, agent string, now time.Time) error {
	node, err := registered(snap, nodeID)
	if err != nil {
		return err
	}
	if err := s.speakFor(snap, nodeID, agent, now); err != nil {
		return err
	}
	s.heartbeats.Beat(nodeID, now)
	if node.Status == api.NodeStatusReady && node.SilentSince == 0 {
		return nil
	}
	if _, waits := s.returning.LoadOrStore(nodeID, true); !waits {
		if _, err := s.arrivals.put(returned(nodeID, now)); err != nil {
			s.returning.Delete(nodeID)
		}
	}
	return nil
}

// returned is the change of a node that was down or silent, and is heard of again.
func returned(nodeID string, now time.Time) *state.UpdateNodeStatus {
	return &state.UpdateNodeStatus{NodeID: nodeID, Status: api.NodeStatusReady, Description: "heartbeats again", Time: now.UnixNano()}
}
