// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

var nodesByID = order[*api.Node]{
	key:    func(n *api.Node) key { return key{id: n.ID} },
	stored: true,
}

func listNodes(c *call, v *state.Snapshot) iter.Seq[*api.Node] { return v.NodesPrefix(c.prefix) }

func showNode(c *call, _ *state.Snapshot, n *api.Node) *api.NodeListStub {
	stub := n.Stub()
	if resources, _ := c.flag("resources"); resources {
		stub.NodeResources, stub.ReservedResources = n.Resources, n.Reserved
	}
	if os, _ := c.flag("os"); os {
		stub.Attributes = map[string]string{"os.name": n.Attributes["os.name"]}
	}
	return stub
}

func getNode(c *call, v *state.Snapshot) (*api.Node, uint64, error) {
	n, err := findNode(v, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return n, n.ModifyIndex, nil
}

func findNode(v *state.Snapshot, id string) (*api.Node, error) {
	return find("node", id, v.Node(id), v.NodesPrefix, func(n *api.Node) string { return n.ID })
}

func getNodeAllocations(c *call, v *state.Snapshot) ([]*api.Allocation, uint64, error) {
	n, err := findNode(v, c.id())
	if api.CodeOf(err) == api.CodeNotFound {
		n = &api.Node{ID: c.id()}
	} else if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	readable := where(v.AllocationsByNode(n.ID), func(a *api.Allocation) bool { return c.may(acl.ReadJob, a.Namespace) })
	return ofJob(c, v, readable, allocationModified, (*api.Allocation).Shown)
}

func setNodeEligibility(c *call, req *api.NodeEligibilityRequest) (*api.NodeEligibilityResponse, uint64, error) {
	if req.Eligibility != api.NodeEligible && req.Eligibility != api.NodeIneligible {
		return nil, 0, api.Errorf(api.CodeInvalid, "Eligibility: %q is neither %q nor %q", req.Eligibility, api.NodeEligible, api.NodeIneligible)
	}
	n, err := findNode(c.Server.Store().Snapshot(), c.id())
	if err != nil {
		return nil, 0, err
	}
	index, err := c.Server.SetNodeEligibility(c.r.Context(), n.ID, req.Eligibility)
	if err != nil {
		return nil, 0, err
	}
	return &api.NodeEligibilityResponse{NodeModifyIndex: index, Index: index}, index, nil
}

func drainNode(c *call, req *api.NodeDrainRequest) (*api.NodeDrainResponse, uint64, error) {
	n, err := findNode(c.Server.Store().Snapshot(), c.id())
	if err != nil {
		return nil, 0, err
	}
	resp, err := c.Server.DrainNode(c.r.Context(), n.ID, req)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}

func getNodeDrain(c *call, v *state.Snapshot) (*api.NodeDrainStatus, uint64, error) {
	index := v.TableIndex(c.route.Tables...)
	n, err := findNode(v, c.id())
	if err != nil {
		return nil, index, err
	}
	return control.DrainStatus(v, n, time.Now()), index, nil
}

func purgeNode(c *call, _ *none) (*api.NodePurgeResponse, uint64, error) {
	n, err := findNode(c.Server.Store().Snapshot(), c.id())
	if err != nil {
		return nil, 0, err
	}
	resp, err := c.Server.PurgeNode(c.r.Context(), n.ID)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}

func evaluateNode(c *call, _ *none) (*api.NodeEvaluateResponse, uint64, error) {
	n, err := findNode(c.Server.Store().Snapshot(), c.id())
	if err != nil {
		return nil, 0, err
	}
	resp, err := c.Server.EvaluateNode(c.r.Context(), n.ID)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}
