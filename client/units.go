// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Units are names whose versions are deployed as stacks.
type Units struct{ c *Client }

// Units returns the calls about units.
func (c *Client) Units() Units { return Units{c} }

// List lists the units of the namespace with their stacks.
func (u Units) List(ctx context.Context, q *QueryOptions) ([]*api.UnitStatus, *QueryMeta, error) {
	return get[[]*api.UnitStatus](ctx, u.c, "/v1/units", q)
}

// Get returns a unit with its stacks.
func (u Units) Get(ctx context.Context, name string, q *QueryOptions) (*api.UnitStatus, *QueryMeta, error) {
	return get[*api.UnitStatus](ctx, u.c, pathf("/v1/unit/%s", name), q)
}

// Do applies a verb to the rules of a unit: deprecate, undeprecate, tag or policy.
func (u Units) Do(ctx context.Context, name, verb string, req *api.UnitVerbRequest) (*api.UnitResponse, error) {
	if req == nil {
		req = &api.UnitVerbRequest{}
	}
	return send[*api.UnitResponse](ctx, u.c, http.MethodPut, pathf("/v1/unit/%s/%s", name, verb), nil, req)
}

// Shift begins a shift of a unit's traffic to one of its ready stacks.
func (u Units) Shift(ctx context.Context, name string, req *api.ShiftRequest) (*api.ShiftResponse, error) {
	return send[*api.ShiftResponse](ctx, u.c, http.MethodPut, pathf("/v1/unit/%s/shift", name), nil, req)
}

// Shifts are movements of traffic between two stacks of a unit.
type Shifts struct{ c *Client }

// Shifts returns the calls about shifts.
func (c *Client) Shifts() Shifts { return Shifts{c} }

// List lists the shifts of the namespace, newest first.
func (s Shifts) List(ctx context.Context, q *QueryOptions) ([]*api.Shift, *QueryMeta, error) {
	return get[[]*api.Shift](ctx, s.c, "/v1/shifts", q)
}

// Get returns a shift by its id, or the running shift of a unit.
func (s Shifts) Get(ctx context.Context, name string, q *QueryOptions) (*api.Shift, *QueryMeta, error) {
	return get[*api.Shift](ctx, s.c, pathf("/v1/shift/%s", name), q)
}

// Do applies a verb to a shift: pause, resume, reverse, finish or set.
func (s Shifts) Do(ctx context.Context, name, verb string, req *api.ShiftVerbRequest) (*api.ShiftResponse, error) {
	if req == nil {
		req = &api.ShiftVerbRequest{}
	}
	return send[*api.ShiftResponse](ctx, s.c, http.MethodPut, pathf("/v1/shift/%s/%s", name, verb), nil, req)
}
