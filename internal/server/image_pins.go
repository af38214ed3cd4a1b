// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// PinImage returns the digest that a node's task must run. If the request holds one and is the first of
// the job's version, the servers pin it. Nodes without a digest only ask.
func (s *Server) PinImage(ctx context.Context, nodeID string, r *api.ImagePinRequest) (*api.ImagePinResponse, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	v := s.store.Snapshot()
	if _, err := registered(v, nodeID); err != nil {
		return nil, err
	}
	if known := pinned(v, nodeID, r); known != nil {
		return known, nil
	}
	if r.Digest == "" {
		return &api.ImagePinResponse{}, nil // the answer to the digest decides, also if this server is behind
	}
	cmd := &state.PinImage{NodeID: nodeID, AllocID: r.AllocID, Task: r.Task, Image: r.Image, Digest: r.Digest, Time: time.Now().UnixNano()}
	if needs, _ := state.Needs(cmd); v.Level() < needs {
		return &api.ImagePinResponse{Digest: r.Digest}, nil // until the upgrade of the cluster has ended
	}
	if _, err := s.propose(ctx, cmd); err != nil {
		return nil, err
	}
	if known := pinned(s.store.Snapshot(), nodeID, r); known != nil {
		return known, nil
	}
	return &api.ImagePinResponse{Digest: r.Digest}, nil
}

// pinned returns the pin that a node may read; nil if there is no such pin.
func pinned(v *state.Snapshot, nodeID string, r *api.ImagePinRequest) *api.ImagePinResponse {
	a, err := v.CheckPin(nodeID, r.AllocID, r.Task, r.Image)
	if err != nil {
		return nil
	}
	if p := v.ImagePin(a, r.Task, r.Image); p != nil {
		return &api.ImagePinResponse{Digest: p.Digest, Pinned: true}
	}
	return nil
}
