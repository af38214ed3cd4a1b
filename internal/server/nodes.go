// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/state"
)

// RegisterNode stores what an agent says of its node.
func (s *Server) RegisterNode(ctx context.Context, node *api.Node) (*api.NodeHeartbeatResponse, error) {
	if err := checkNode(node); err != nil {
		return nil, err
	}
	now := time.Now()
	snap := s.store.Snapshot()
	stored := snap.Node(node.ID)
	node = node.Copy()
	node.Status, node.StatusDescription, node.StatusUpdatedAt = api.NodeStatusReady, "", now.Unix()
	if node.NodePool == "" {
		node.NodePool = api.NodePoolDefault
	}
	if node.Datacenter == "" {
		node.Datacenter = "dc1"
	}
	if stored != nil {
		// What operators decided outlives the agent's restarts.
		node.SchedulingEligibility = stored.SchedulingEligibility
		node.Drain, node.DrainStrategy, node.LastDrain = stored.Drain, stored.DrainStrategy, stored.LastDrain
		node.Events = stored.Events
	} else {
		node.SchedulingEligibility = api.NodeEligible
	}
	if err := snap.CheckIntroduction(node); err != nil {
		return nil, err // before it counts as alive
	}
	clusterID := snap.ClusterID()
	if node.LastCluster != "" && node.LastCluster != clusterID {
		// What it runs is to be known before anything is placed beside it.
		node.Status, node.StatusDescription = api.NodeStatusInit, "comes from another cluster, and has not said yet what it runs"
	}
	node.LastCluster = ""
	node.ComputedClass = api.ComputeClass(node)
	s.heartbeats.Beat(node.ID, now)
	index, err := s.arrive(ctx, &state.RegisterNode{Node: node})
	if err != nil {
		return nil, err
	}
	return &api.NodeHeartbeatResponse{HeartbeatTTL: s.cfg.HeartbeatTTL, Status: node.Status, ClusterID: clusterID, Index: index}, nil
}

// SpeakFor notes which agent speaks for a node; "" is one that does not say. Two
// at a time, on copies of one data directory, would run everything twice: the
// second gets api.CodeConflict until the first has been silent for a TTL.
func (s *Server) SpeakFor(nodeID, agent string) error {
	if agent == "" || !s.IsLeader() {
		return nil
	}
	return s.speakFor(s.store.Snapshot(), nodeID, nodeproto.AgentDigest(agent), time.Now())
}

// speakFor is SpeakFor with the digest of the agent's mark.
func (s *Server) speakFor(snap *state.Snapshot, nodeID, agent string, now time.Time) error {
	if agent == "" {
		return nil
	}
	silent, ok := s.heartbeats.Speak(nodeID, agent, now)
	if ok {
		return nil
	}
	name := api.ShortID(nodeID)
	if node := snap.Node(nodeID); node != nil {
		name = fmt.Sprintf("%s (%s, %s)", node.Name, name, node.HTTPAddr)
	}
	return api.Errorf(api.CodeConflict, "another agent speaks for node %s, and was heard %s ago: one of them runs on a copy of the other's data directory. "+
		"Stop one of the two; if both are to be nodes, empty the copy, which makes it a node of its own", name, silent.Round(time.Millisecond))
}

// Heartbeat records that a node is alive; a node that was down becomes ready. It returns
// CodeNotFound for an unknown node, which must register.
func (s *Server) Heartbeat(ctx context.Context, nodeID string) (*api.NodeHeartbeatResponse, error) {
	if !s.IsLeader() {
		return nil, errNoLeader
	}
	snap := s.store.Snapshot()
	node, err := registered(snap, nodeID)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	s.heartbeats.Beat(nodeID, now)
	res := &api.NodeHeartbeatResponse{HeartbeatTTL: s.cfg.HeartbeatTTL, Status: node.Status, Index: snap.Index()}
	if node.Status == api.NodeStatusReady && node.SilentSince == 0 {
		return res, nil
	}
	res.Status = api.NodeStatusReady
	res.Index, err = s.arrive(ctx, returned(nodeID, now))
	if err != nil {
		return nil, err
	}
	return res, nil
}

// SetNodeEligibility says whether new allocations may be placed on a node.
func (s *Server) SetNodeEligibility(ctx context.Context, nodeID, eligibility string) (uint64, error) {
	if eligibility != api.NodeEligible && eligibility != api.NodeIneligible {
		return 0, api.Errorf(api.CodeInvalid, "eligibility is %q; it must be %q or %q", eligibility, api.NodeEligible, api.NodeIneligible)
	}
	snap := s.store.Snapshot()
	node := snap.Node(nodeID)
	if node == nil {
		return 0, api.Errorf(api.CodeNotFound, "node %q not found", nodeID)
	}
	if node.DrainStrategy != nil && eligibility == api.NodeEligible {
		return 0, api.Errorf(api.CodeConflict, "node %s is being drained: end the drain before making it eligible", api.ShortID(nodeID))
	}
	return s.propose(ctx, &state.SetNodeEligibility{NodeID: nodeID, Eligibility: eligibility, Time: time.Now().UnixNano()})
}

func checkNode(node *api.Node) error {
	switch {
	case node == nil:
		return api.Errorf(api.CodeInvalid, "the request holds no Node: send {\"Node\": {...}}")
	case node.ID == "":
		return api.Errorf(api.CodeInvalid, "Node.ID is missing")
	case node.Name == "":
		return api.Errorf(api.CodeInvalid, "Node.Name is missing")
	}
	if node.NodePool == api.NodePoolAll {
		return api.Errorf(api.CodeInvalid, "Node.NodePool: every node is in %q: name the pool that the node is in beside it, or none", api.NodePoolAll)
	}
	return nil
}

// registered returns the node, or an error that makes its agent register it.
func registered(snap *state.Snapshot, nodeID string) (*api.Node, error) {
	node := snap.Node(nodeID)
	if node == nil {
		return nil, api.Errorf(api.CodeNotFound, "node %q is not registered: register it first", nodeID)
	}
	return node, nil
}
