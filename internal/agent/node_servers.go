// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/node"
	"github.com/reeve-run/reeve/internal/nodelink"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

// nodeServers returns the servers as the node of this agent sees them.
func (a *Agent) nodeServers() node.Servers {
	mark := node.AgentMark(a.config.DataDir)
	plain := nodeServers{a.client.Nodes().As(mark)}
	if a.trust == nil {
		return plain
	}
	m, _ := a.trust.Member()
	return linkedServers{nodeServers: plain, link: a.newLink(m.ID, mark)}
}

// nodeServers adapts the public client to the node's interface.
type nodeServers struct{ nodes client.Nodes }

func (s nodeServers) Register(ctx context.Context, n *api.Node) (*api.NodeHeartbeatResponse, error) {
	return s.nodes.Register(ctx, n)
}

func (s nodeServers) Heartbeat(ctx context.Context, id string) (*api.NodeHeartbeatResponse, error) {
	return s.nodes.Heartbeat(ctx, id)
}

func (s nodeServers) Stream(ctx context.Context, id string, told api.Position, receive func(*api.NodeAllocations) error) error {
	for message, err := range s.nodes.Stream(ctx, id, told) {
		if err != nil {
			return err
		}
		if err := receive(message); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (s nodeServers) OfferOrphans(ctx context.Context, id string, orphans []*api.OfferedOrphan) (map[string]string, error) {
	resp, err := s.nodes.OfferOrphans(ctx, id, &api.OfferOrphansRequest{Orphans: orphans})
	if err != nil {
		return nil, err
	}
	return resp.Refused, nil
}

func (s nodeServers) ReportVolumes(ctx context.Context, id string, reports []*api.HostVolumeReport) error {
	return s.nodes.ReportVolumes(ctx, id, reports)
}

func (s nodeServers) PinImage(ctx context.Context, id string, req *api.ImagePinRequest) (*api.ImagePinResponse, error) {
	return s.nodes.PinImage(ctx, id, req)
}

func (s nodeServers) ImageUses(ctx context.Context, id string, req *api.ImageUsesRequest) (*api.ImageUsesResponse, error) {
	return s.nodes.ImageUses(ctx, id, req)
}

func (s nodeServers) SignIdentities(ctx context.Context, id string, requests []*api.IdentityRequest) ([]*api.IdentityResponse, error) {
	return s.nodes.SignIdentities(ctx, id, requests)
}

func (s nodeServers) TemplateValues(ctx context.Context, id string, r *api.TemplateValuesRequest) (*api.TemplateValuesResponse, error) {
	return s.nodes.TemplateValues(ctx, id, r)
}

func (s nodeServers) UpdateAllocations(ctx context.Context, id string, allocs []*api.Allocation) error {
	_, err := s.nodes.UpdateAllocations(ctx, id, allocs)
	return err
}

// linkedServers uses the node's connection to a server for heartbeats, allocations and reports.
// Without a connection, as while all servers run an earlier version, it sends requests.
type linkedServers struct {
	nodeServers
	link *nodelink.Client
}

func (s linkedServers) Heartbeat(ctx context.Context, id string) (*api.NodeHeartbeatResponse, error) {
	answer, err := s.link.Heartbeat(ctx)
	if errors.Is(err, nodelink.ErrUnlinked) {
		return s.nodeServers.Heartbeat(ctx, id)
	}
	return answer, err
}

func (s linkedServers) Stream(ctx context.Context, id string, told api.Position, receive func(*api.NodeAllocations) error) error {
	err := s.link.Stream(ctx, id, told, receive)
	if errors.Is(err, nodelink.ErrUnsupported) {
		return s.nodeServers.Stream(ctx, id, told, receive)
	}
	return err
}

func (s linkedServers) UpdateAllocations(ctx context.Context, id string, allocs []*api.Allocation) error {
	content, err := nodeproto.EncodeReport(allocs)
	if err != nil {
		return err
	}
	_, err = s.link.Report(ctx, content)
	if errors.Is(err, nodelink.ErrUnlinked) {
		return s.nodeServers.UpdateAllocations(ctx, id, allocs)
	}
	return err
}
