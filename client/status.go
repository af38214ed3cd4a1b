// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/reeve-run/reeve/api"
)

// Status calls the routes of the state of the cluster and of the answering agent.
type Status struct{ c *Client }

// Status returns the calls for the cluster's state.
func (c *Client) Status() Status { return Status{c} }

// Leader returns the leader's address; "" without a leader.
func (s Status) Leader(ctx context.Context) (string, error) {
	out, _, err := get[string](ctx, s.c, "/v1/status/leader", nil)
	return out, err
}

// Peers returns the servers' addresses.
func (s Status) Peers(ctx context.Context) ([]string, error) {
	out, _, err := get[[]string](ctx, s.c, "/v1/status/peers", nil)
	return out, err
}

// Self describes the answering agent.
func (s Status) Self(ctx context.Context) (*api.AgentSelf, error) {
	out, _, err := get[*api.AgentSelf](ctx, s.c, "/v1/agent/self", nil)
	return out, err
}

// Router returns the state of the answering agent's router.
func (s Status) Router(ctx context.Context) (*api.RouterStatus, error) {
	out, _, err := get[*api.RouterStatus](ctx, s.c, "/v1/agent/router", nil)
	return out, err
}

// Members returns the servers.
func (s Status) Members(ctx context.Context) (*api.AgentMembers, error) {
	out, _, err := get[*api.AgentMembers](ctx, s.c, "/v1/agent/members", nil)
	return out, err
}

// Health returns the health of the answering agent. An unhealthy answer is not an error.
func (s Status) Health(ctx context.Context) (*api.AgentHealth, error) {
	out, _, err := get[*api.AgentHealth](ctx, s.c, "/v1/agent/health", nil)
	var refused *api.Error
	if errors.As(err, &refused) && json.Unmarshal([]byte(refused.Message), &out) == nil {
		return out, nil
	}
	return out, err
}

// KnownServers returns the addresses of the servers that the answering agent knows.
func (s Status) KnownServers(ctx context.Context) ([]string, error) {
	out, _, err := get[[]string](ctx, s.c, "/v1/agent/servers", nil)
	return out, err
}

// SetServers replaces the servers that the answering agent of a node knows.
func (s Status) SetServers(ctx context.Context, addresses []string) error {
	_, err := send[any](ctx, s.c, http.MethodPut, "/v1/agent/servers", url.Values{"address": addresses}, nil)
	return err
}

// Metrics returns the measurements of the answering agent.
func (s Status) Metrics(ctx context.Context) (*api.MetricsSummary, error) {
	out, _, err := get[*api.MetricsSummary](ctx, s.c, "/v1/metrics", nil)
	return out, err
}

// Regions returns the names of the regions.
func (s Status) Regions(ctx context.Context) ([]string, error) {
	out, _, err := get[[]string](ctx, s.c, "/v1/regions", nil)
	return out, err
}

// Search returns the ids that begin with a prefix, by kind.
func (s Status) Search(ctx context.Context, req *api.SearchRequest) (*api.SearchResponse, error) {
	return send[*api.SearchResponse](ctx, s.c, http.MethodPut, "/v1/search", nil, req)
}

// CollectGarbage deletes all ended objects, regardless of their age.
func (s Status) CollectGarbage(ctx context.Context) error {
	_, err := send[json.RawMessage](ctx, s.c, http.MethodPut, "/v1/system/gc", url.Values{}, nil)
	return err
}
