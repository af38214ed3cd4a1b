// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/reeve-run/reeve/api"
)

// Allocations calls the routes of allocations: attempts to run instances on nodes.
type Allocations struct{ c *Client }

// Allocations returns the calls for allocations.
func (c *Client) Allocations() Allocations { return Allocations{c} }

// List lists allocations by id.
func (a Allocations) List(ctx context.Context, q *QueryOptions) ([]*api.AllocationListStub, *QueryMeta, error) {
	return get[[]*api.AllocationListStub](ctx, a.c, "/v1/allocations", q)
}

// Get returns an allocation by its id or a prefix of it.
func (a Allocations) Get(ctx context.Context, id string, q *QueryOptions) (*api.Allocation, *QueryMeta, error) {
	return get[*api.Allocation](ctx, a.c, pathf("/v1/allocation/%s", id), q)
}

// Stop stops an allocation permanently; its instance is placed again.
func (a Allocations) Stop(ctx context.Context, id string, noShutdownDelay bool) (*api.StopAllocationResponse, error) {
	v := url.Values{}
	if noShutdownDelay {
		v.Set("no_shutdown_delay", "true")
	}
	return send[*api.StopAllocationResponse](ctx, a.c, http.MethodPut, pathf("/v1/allocation/%s/stop", id), v, nil)
}

// Restart restarts tasks of an allocation in place.
func (a Allocations) Restart(ctx context.Context, id string, req api.RestartAllocationRequest) error {
	_, err := send[struct{}](ctx, a.c, http.MethodPut, pathf("/v1/client/allocation/%s/restart", id), nil, &req)
	return err
}

// Signal sends a signal to tasks of an allocation.
func (a Allocations) Signal(ctx context.Context, id string, req api.SignalAllocationRequest) error {
	_, err := send[struct{}](ctx, a.c, http.MethodPut, pathf("/v1/client/allocation/%s/signal", id), nil, &req)
	return err
}

// Checks returns the last results of an allocation's checks, by check id.
func (a Allocations) Checks(ctx context.Context, id string) (map[string]*api.CheckStatus, error) {
	out, _, err := get[map[string]*api.CheckStatus](ctx, a.c, pathf("/v1/client/allocation/%s/checks", id), nil)
	return out, err
}

// Stats returns an allocation's current usage.
func (a Allocations) Stats(ctx context.Context, id string) (*api.AllocationStats, error) {
	out, _, err := get[*api.AllocationStats](ctx, a.c, pathf("/v1/client/allocation/%s/stats", id), nil)
	return out, err
}
