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

// nodeSecretHeader carries the proof that the caller is the node.
const nodeSecretHeader = "X-Reeve-Node-Secret"

// nodeAgentHeader says which agent it is that speaks for the node.
const nodeAgentHeader = "X-Reeve-Node-Agent"

// As returns the calls of one agent. Two that speak for one node are told apart by
// this: the machine's boot and the data directory, say. api.CodeConflict tells one
// that another is heard.
func (n Nodes) As(agent string) Nodes {
	n.agent = agent
	return n
}

// Register says what a node has. Its SecretID is fixed by the first time.
func (n Nodes) Register(ctx context.Context, node *api.Node) (*api.NodeHeartbeatResponse, error) {
	return nodeCall[*api.NodeHeartbeatResponse](ctx, n, pathf("/v1/node/%s/register", node.ID), node.SecretID,
		&api.RegisterNodeRequest{Node: node})
}

// Heartbeat says that a node lives. api.CodeNotFound asks it to register again.
func (n Nodes) Heartbeat(ctx context.Context, id, secret string) (*api.NodeHeartbeatResponse, error) {
	return nodeCall[*api.NodeHeartbeatResponse](ctx, n, pathf("/v1/node/%s/heartbeat", id), secret, nil)
}

// OfferOrphans offers what a node runs although the servers do not know it.
func (n Nodes) OfferOrphans(ctx context.Context, id, secret string, req *api.OfferOrphansRequest) (*api.OfferOrphansResponse, error) {
	return nodeCall[*api.OfferOrphansResponse](ctx, n, pathf("/v1/node/%s/orphans", id), secret, req)
}

// UpdateAllocations reports how a node's allocations are. It returns the index
// at which that is durable.
func (n Nodes) UpdateAllocations(ctx context.Context, id, secret string, allocations []*api.Allocation) (uint64, error) {
	path := pathf("/v1/node/%s/allocations", id)
	if !n.c.agents.Load() {
		resp, err := nodeCall[api.IndexResponse](ctx, n, path, secret, &api.UpdateAllocationsRequest{Allocations: allocations})
		return resp.Index, err
	}
	body, err := nodeproto.EncodeReport(allocations)
	if err != nil {
		return 0, err
	}
	header := http.Header{nodeSecretHeader: {secret}, "Content-Type": {nodeproto.Media}}
	resp, err := n.c.do(ctx, http.MethodPut, path, url.Values{}, body, header)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var out api.IndexResponse
	err = n.c.decode(ctx, resp, &out)
	return out.Index, err
}

// Stream yields what a node should run: everything first, then every change.
// It ends with an error, or when the loop is left; a silent server counts as
// gone after 30 seconds. A server that can sends the compact form, and is sent
// reports in it from then on. The position is the one up to which the node
// was told before: the first message says if the servers' history does not have
// it.
func (n Nodes) Stream(ctx context.Context, id, secret string, told api.Position) iter.Seq2[*api.NodeAllocations, error] {
	header := http.Header{nodeSecretHeader: {secret}, "Accept": {nodeproto.Media + ", application/x-ndjson"}}
	return streamOf(ctx, n.c, pathf("/v1/node/%s/allocations/stream", id), toldValues(told), header, n.read)
}

// read returns what reads the messages of a node's stream.
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

func nodeCall[T any](ctx context.Context, n Nodes, path, secret string, in any) (T, error) {
	var out T
	header := http.Header{nodeSecretHeader: {secret}}
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
