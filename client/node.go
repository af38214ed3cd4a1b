// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

// nodeAgentHeader identifies the agent that calls for the node.
const nodeAgentHeader = "X-Reeve-Node-Agent"

// As returns the calls of one agent. The mark, such as the machine's boot and the data
// directory, distinguishes two agents of one node. An agent receives api.CodeConflict if the
// servers accept another one.
func (n Nodes) As(agent string) Nodes {
	n.agent = agent
	return n
}

// Register registers a node.
func (n Nodes) Register(ctx context.Context, node *api.Node) (*api.NodeHeartbeatResponse, error) {
	return nodeCall[*api.NodeHeartbeatResponse](ctx, n, pathf("/v1/node/%s/register", node.ID), &api.RegisterNodeRequest{Node: node})
}

// Heartbeat renews a node's lease. api.CodeNotFound requests another registration.
func (n Nodes) Heartbeat(ctx context.Context, id string) (*api.NodeHeartbeatResponse, error) {
	return nodeCall[*api.NodeHeartbeatResponse](ctx, n, pathf("/v1/node/%s/heartbeat", id), nil)
}

// OfferOrphans offers a node's allocations that the servers do not know.
func (n Nodes) OfferOrphans(ctx context.Context, id string, req *api.OfferOrphansRequest) (*api.OfferOrphansResponse, error) {
	return nodeCall[*api.OfferOrphansResponse](ctx, n, pathf("/v1/node/%s/orphans", id), req)
}

// ReportVolumes reports on a node's dynamic volumes.
func (n Nodes) ReportVolumes(ctx context.Context, id string, reports []*api.HostVolumeReport) error {
	_, err := nodeCall[*api.IndexResponse](ctx, n, pathf("/v1/node/%s/volumes", id), &api.NodeVolumesRequest{Volumes: reports})
	return err
}

// PinImage returns the digest of an image that a task of the node must run, and pins the one of the request if
// it is the first.
func (n Nodes) PinImage(ctx context.Context, id string, req *api.ImagePinRequest) (*api.ImagePinResponse, error) {
	return nodeCall[*api.ImagePinResponse](ctx, n, pathf("/v1/node/%s/image-pin", id), req)
}

// ImageUses returns the uses of a node's images by jobs that are registered.
func (n Nodes) ImageUses(ctx context.Context, id string, req *api.ImageUsesRequest) (*api.ImageUsesResponse, error) {
	return nodeCall[*api.ImageUsesResponse](ctx, n, pathf("/v1/node/%s/image-uses", id), req)
}

// SignIdentities returns the signed tokens of tasks that the node runs, in the order of the requests.
func (n Nodes) SignIdentities(ctx context.Context, id string, requests []*api.IdentityRequest) ([]*api.IdentityResponse, error) {
	answer, err := nodeCall[*api.IdentitiesResponse](ctx, n, pathf("/v1/node/%s/identities", id), &api.IdentitiesRequest{Requests: requests})
	if err != nil {
		return nil, err
	}
	if len(answer.Responses) != len(requests) {
		return nil, api.Errorf(api.CodeInternal, "the server answered %d of %d requests for identities", len(answer.Responses), len(requests))
	}
	return answer.Responses, nil
}

// TemplateValues returns the values of templates that differ from those of the node, once one does, or the request
// has waited long enough.
func (n Nodes) TemplateValues(ctx context.Context, id string, r *api.TemplateValuesRequest) (*api.TemplateValuesResponse, error) {
	return nodeCall[*api.TemplateValuesResponse](ctx, n, pathf("/v1/node/%s/template-values", id), r)
}

// ReportTraffic reports what a router counted.
func (n Nodes) ReportTraffic(ctx context.Context, report *api.TrafficReport) (*api.TrafficResponse, error) {
	return nodeCall[*api.TrafficResponse](ctx, n, "/v1/traffic", report)
}

// UpdateAllocations reports the states of a node's allocations. It returns the index at which
// the report is durable.
func (n Nodes) UpdateAllocations(ctx context.Context, id string, allocations []*api.Allocation) (uint64, error) {
	path := pathf("/v1/node/%s/allocations", id)
	if !n.c.agents.Load() {
		resp, err := nodeCall[api.IndexResponse](ctx, n, path, &api.UpdateAllocationsRequest{Allocations: allocations})
		return resp.Index, err
	}
	body, err := nodeproto.EncodeReport(allocations)
	if err != nil {
		return 0, err
	}
	header := http.Header{"Content-Type": {nodeproto.Media}}
	resp, err := n.c.do(ctx, http.MethodPut, path, url.Values{}, body, header)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var out api.IndexResponse
	err = n.c.decode(ctx, resp, &out)
	return out.Index, err
}

// Stream yields the allocations that a node must run: first all, then every change. It ends
// with an error, or with the loop; a server counts as lost after 30 silent seconds. If the
// server supports it, the stream and later reports use the compact encoding. told is the
// position of the last message that the node received: the first message says whether the
// servers' history contains it.
func (n Nodes) Stream(ctx context.Context, id string, told api.Position) iter.Seq2[*api.NodeAllocations, error] {
	header := http.Header{"Accept": {nodeproto.Media + ", application/x-ndjson"}}
	return streamOf(ctx, n.c, pathf("/v1/node/%s/allocations/stream", id), positionValues(told), header, n.read)
}

// read returns a function that reads the messages of a node's stream.
func (n Nodes) read(resp *http.Response, body io.Reader) func() (*api.NodeAllocations, error) {
	if resp.Header.Get("Content-Type") != nodeproto.Media {
		dec := json.NewDecoder(body)
		return func() (*api.NodeAllocations, error) {
			m := new(api.NodeAllocations)
			return m, dec.Decode(m)
		}
	}
	n.c.agents.Store(true)
	r := bufio.NewReader(body)
	return func() (*api.NodeAllocations, error) { return nodeproto.ReadFrame(r) }
}

func nodeCall[T any](ctx context.Context, n Nodes, path string, in any) (T, error) {
	var out T
	header := http.Header{}
	if n.agent != "" {
		header.Set(nodeAgentHeader, n.agent)
	}
	resp, err := n.c.do(ctx, http.MethodPut, path, url.Values{}, in, header)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	return out, n.c.decode(ctx, resp, &out)
}
