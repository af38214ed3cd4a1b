// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Domains calls the routes of domains: sets of jobs with one owner each. "" is the domain of
// jobs that name none.
type Domains struct{ c *Client }

// Domains returns the calls for domains.
func (c *Client) Domains() Domains { return Domains{c} }

// List lists the domains that are fresh, by name.
func (d Domains) List(ctx context.Context, q *QueryOptions) ([]*api.Domain, *QueryMeta, error) {
	return get[[]*api.Domain](ctx, d.c, "/v1/domains", q)
}

// ListAll lists all domains that were ever marked, by name.
func (d Domains) ListAll(ctx context.Context, q *QueryOptions) ([]*api.Domain, *QueryMeta, error) {
	return get[[]*api.Domain](ctx, d.c, "/v1/domains", q.with("all", "true"))
}

// Get returns a domain, fresh or not.
func (d Domains) Get(ctx context.Context, name string, q *QueryOptions) (*api.Domain, *QueryMeta, error) {
	return get[*api.Domain](ctx, d.c, pathf("/v1/domain/%s", api.DomainPath(name)), q)
}

// Mark marks a domain as fresh: for a TTL, or indefinitely if the request has none.
func (d Domains) Mark(ctx context.Context, name string, req *api.DomainRequest) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, d.c, http.MethodPut, pathf("/v1/domain/%s", api.DomainPath(name)), nil, req)
}

// End ends the freshness of a domain early.
func (d Domains) End(ctx context.Context, name string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, d.c, http.MethodDelete, pathf("/v1/domain/%s", api.DomainPath(name)), nil, nil)
}

// Orphans lists the allocations that run without a registered job, by id.
func (d Domains) Orphans(ctx context.Context, q *QueryOptions) ([]*api.Orphan, *QueryMeta, error) {
	return get[[]*api.Orphan](ctx, d.c, "/v1/orphans", q)
}
