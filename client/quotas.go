// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Quotas has the calls about quotas.
type Quotas struct{ c *Client }

// Quotas returns the calls about quotas. The client's own namespace does not matter to them.
func (c *Client) Quotas() Quotas { return Quotas{c.WithNamespace("")} }

// List lists quotas by name: those that the caller may read.
func (q Quotas) List(ctx context.Context, o *QueryOptions) ([]*api.Quota, *QueryMeta, error) {
	return get[[]*api.Quota](ctx, q.c, "/v1/quotas", o)
}

// Get returns a quota.
func (q Quotas) Get(ctx context.Context, name string, o *QueryOptions) (*api.Quota, *QueryMeta, error) {
	return get[*api.Quota](ctx, q.c, pathf("/v1/quota/%s", name), o)
}

// Usages lists what counts against each quota, without the jobs.
func (q Quotas) Usages(ctx context.Context, o *QueryOptions) ([]*api.QuotaUsage, *QueryMeta, error) {
	return get[[]*api.QuotaUsage](ctx, q.c, "/v1/quota-usages", o)
}

// Usage returns what counts against a quota, with the largest jobs that the caller may read.
func (q Quotas) Usage(ctx context.Context, name string, o *QueryOptions) (*api.QuotaUsage, *QueryMeta, error) {
	return get[*api.QuotaUsage](ctx, q.c, pathf("/v1/quota/usage/%s", name), o)
}

// Put creates or changes a quota.
func (q Quotas) Put(ctx context.Context, quota *api.Quota) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, q.c, http.MethodPut, "/v1/quota", nil, quota)
}

// Delete deletes a quota that no namespace names.
func (q Quotas) Delete(ctx context.Context, name string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, q.c, http.MethodDelete, pathf("/v1/quota/%s", name), nil, nil)
}
