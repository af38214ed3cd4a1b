// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// OfferOrphans takes in what a node runs although this cluster does not know it.
// It returns when that is durable.
func (s *Server) OfferOrphans(ctx context.Context, nodeID string, req *api.OfferOrphansRequest) (*api.OfferOrphansResponse, error) {
	snap := s.store.Snapshot()
	if _, err := registered(snap, nodeID); err != nil {
		return nil, err
	}
	res := &api.OfferOrphansResponse{Index: snap.Index()}
	now := time.Now().UnixNano()
	strange := &state.AdoptAllocations{NodeID: nodeID, Time: now}
	forgotten := &state.AdoptAllocations{NodeID: nodeID, Time: now, Rewound: true}
	for i, o := range req.Orphans {
		if err := checkOrphan(o); err != nil {
			return nil, api.Errorf(api.CodeInvalid, "Orphans[%d]: %v", i, err)
		}
		a := o.Allocation
		if known := snap.Allocation(a.ID); known != nil {
			if known.NodeID != nodeID {
				if res.Refused == nil {
					res.Refused = map[string]string{}
				}
				res.Refused[a.ID] = fmt.Sprintf("an allocation of that ID is on node %s", api.ShortID(known.NodeID))
			}
			continue
		}
		to := strange
		if o.ClusterID == snap.ClusterID() {
			to = forgotten
		}
		to.Allocations = append(to.Allocations, a)
	}
	var cmds []state.Command
	for _, c := range []*state.AdoptAllocations{strange, forgotten} {
		if len(c.Allocations) > 0 {
			cmds = append(cmds, c)
			s.cfg.Logger.Warn("adopting allocations that run on a node and were not known", "node", nodeID,
				"allocations", len(c.Allocations), "of_this_cluster", c.Rewound)
		}
	}
	if len(cmds) == 0 {
		return res, nil
	}
	var err error
	res.Index, err = s.propose(ctx, cmds...)
	return res, err
}

// checkOrphan refuses what cannot be stored. Whether the job would be accepted if
// it was registered now does not matter: it runs.
func checkOrphan(o *api.OfferedOrphan) error {
	if o == nil || o.Allocation == nil {
		return fmt.Errorf("it has no Allocation")
	}
	a := o.Allocation
	switch {
	case a.ID == "":
		return fmt.Errorf("its Allocation has no ID")
	case a.Namespace == "" || a.JobID == "":
		return fmt.Errorf("allocation %s does not say its Namespace and its JobID", a.ID)
	case a.Job == nil:
		return fmt.Errorf("allocation %s comes without its Job", a.ID)
	case a.Job.Group(a.Group) == nil:
		return fmt.Errorf("allocation %s is of group %q, which its Job does not have", a.ID, a.Group)
	case a.Index() < 0 || a.Name != api.AllocName(a.JobID, a.Group, a.Index()):
		return fmt.Errorf("allocation %s: its Name %q is not %s", a.ID, a.Name, api.AllocName(a.JobID, a.Group, 0)+", or another index of it")
	}
	return nil
}
