// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// Variables has the calls about variables.
type Variables struct{ c *Client }

// Variables returns the calls about the variables of the client's namespace.
func (c *Client) Variables() Variables { return Variables{c} }

// List lists the variables that the caller may see, without their items. QueryOptions.Prefix selects
// paths.
func (v Variables) List(ctx context.Context, q *QueryOptions) ([]*api.VariableMetadata, *QueryMeta, error) {
	return get[[]*api.VariableMetadata](ctx, v.c, "/v1/vars", q)
}

// Get returns a variable.
func (v Variables) Get(ctx context.Context, path string, q *QueryOptions) (*api.Variable, *QueryMeta, error) {
	return get[*api.Variable](ctx, v.c, pathf("/v1/var/%s", path), q)
}

// Put stores a variable. If it is locked, it needs the lock's ID.
func (v Variables) Put(ctx context.Context, variable *api.Variable) (*api.Variable, error) {
	return v.send(ctx, variable, nil)
}

// PutAt stores a variable if the stored one has this modify index; 0: if it does not exist.
func (v Variables) PutAt(ctx context.Context, variable *api.Variable, index uint64) (*api.Variable, error) {
	return v.send(ctx, variable, casOf(index))
}

// Acquire takes the lock of a variable, and creates the variable if it does not exist. The result has the
// lock's ID, and its ModifyIndex is the fencing number.
func (v Variables) Acquire(ctx context.Context, variable *api.Variable) (*api.Variable, error) {
	return v.send(ctx, variable, url.Values{"lock-acquire": {""}})
}

// Renew extends a lock by its TTL, counted from the call.
func (v Variables) Renew(ctx context.Context, path, lockID string) (*api.Variable, error) {
	return v.send(ctx, lockOf(path, lockID), url.Values{"lock-renew": {""}})
}

// Release ends a lock.
func (v Variables) Release(ctx context.Context, path, lockID string) (*api.Variable, error) {
	return v.send(ctx, lockOf(path, lockID), url.Values{"lock-release": {""}})
}

// Delete deletes a variable. It is no error if the variable does not exist.
func (v Variables) Delete(ctx context.Context, path string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, v.c, http.MethodDelete, pathf("/v1/var/%s", path), nil, nil)
}

// DeleteAt deletes a variable that has this modify index.
func (v Variables) DeleteAt(ctx context.Context, path string, index uint64) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, v.c, http.MethodDelete, pathf("/v1/var/%s", path), casOf(index), nil)
}

func (v Variables) send(ctx context.Context, variable *api.Variable, query url.Values) (*api.Variable, error) {
	return send[*api.Variable](ctx, v.c, http.MethodPut, pathf("/v1/var/%s", variable.Path), query, variable)
}

func lockOf(path, id string) *api.Variable {
	return &api.Variable{VariableMetadata: api.VariableMetadata{Path: path, Lock: &api.VariableLock{ID: id}}}
}

func casOf(index uint64) url.Values { return url.Values{"cas": {strconv.FormatUint(index, 10)}} }
