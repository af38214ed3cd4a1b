// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/reeve-run/reeve/api"
)

// Servers has the calls about the servers of the cluster.
type Servers struct{ c *Client }

// Servers returns the calls about the servers of the cluster.
func (c *Client) Servers() Servers { return Servers{c.WithNamespace("")} }

// List lists the servers by name, with their health in the leader's view.
func (s Servers) List(ctx context.Context) ([]*api.ServerStatus, error) {
	list, _, err := get[[]*api.ServerStatus](ctx, s.c, "/v1/servers", nil)
	return list, err
}

// Attention lists the conditions of the cluster that wait for a person, the most urgent first.
func (s Servers) Attention(ctx context.Context) ([]*api.Attention, error) {
	list, _, err := get[[]*api.Attention](ctx, s.c, "/v1/operator/attention", nil)
	return list, err
}

// Leave removes a server from the replicated log. The server is named by its id, name or
// address, here and below.
func (s Servers) Leave(ctx context.Context, server string) error {
	_, err := send[any](ctx, s.c, http.MethodPut, pathf("/v1/server/%s/leave", server), nil, nil)
	return err
}

// Promote lets a server vote.
func (s Servers) Promote(ctx context.Context, server string) error {
	_, err := send[any](ctx, s.c, http.MethodPut, pathf("/v1/server/%s/promote", server), nil, nil)
	return err
}

// Remove removes a server, and excludes it permanently.
func (s Servers) Remove(ctx context.Context, server, reason string) error {
	v := url.Values{}
	if reason != "" {
		v.Set("reason", reason)
	}
	_, err := send[any](ctx, s.c, http.MethodDelete, pathf("/v1/server/%s", server), v, nil)
	return err
}

// Transfer transfers leadership to a server; to the voter with the most complete log if it
// is "".
func (s Servers) Transfer(ctx context.Context, server string) (*api.TransferResult, error) {
	v := url.Values{}
	if server != "" {
		v.Set("id", server)
	}
	return send[*api.TransferResult](ctx, s.c, http.MethodPut, "/v1/operator/raft/transfer-leadership", v, nil)
}
