// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Catalog calls the routes of the catalog of routable allocations.
type Catalog struct{ c *Client }

// Catalog returns the calls for the catalog.
func (c *Client) Catalog() Catalog { return Catalog{c} }

// List lists the entries of routable allocations by id.
func (k Catalog) List(ctx context.Context, q *QueryOptions) ([]*api.CatalogEntry, *QueryMeta, error) {
	return get[[]*api.CatalogEntry](ctx, k.c, "/v1/catalog", q)
}

// Delays before a broken stream is opened again: short at first, and never long, because
// routes are out of date until then.
const (
	streamAgain     = 100 * time.Millisecond
	streamAgainLast = 2 * time.Second
)

// Stream calls receive with the catalog of all namespaces, and then with every change, until
// ctx ends or receive returns an error, which Stream returns. While no server is reachable,
// it receives nothing, and earlier updates stay valid. The first update after a break is
// Complete. For some time it also contains earlier entries of nodes that new servers have
// not heard of yet, and entries that servers with an older copy of their data lack.
func (k Catalog) Stream(ctx context.Context, receive func(*api.CatalogUpdate) error) error {
	return k.StreamReporting(ctx, receive, func(error) {})
}

// StreamReporting is Stream, and reports the reason of each break to broke.
func (k Catalog) StreamReporting(ctx context.Context, receive func(*api.CatalogUpdate) error, broke func(error)) error {
	wait := streamAgain
	var known succession
	for {
		err := k.follow(ctx, known.position, func(u *api.CatalogUpdate) error {
			wait = streamAgain
			if u = known.next(u, time.Now()); u == nil {
				return nil
			}
			return receive(u)
		})
		var refused *receiverError
		switch {
		case errors.As(err, &refused):
			return refused.err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		broke(err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, streamAgainLast)
	}
}

// A receiverError marks an error of the receiver.
type receiverError struct{ err error }

func (e *receiverError) Error() string { return e.err.Error() }

// follow reads one stream to its end.
func (k Catalog) follow(ctx context.Context, told api.Position, receive func(*api.CatalogUpdate) error) error {
	v := positionValues(told)
	v.Set("namespace", "*")
	for u, err := range stream[api.CatalogUpdate](ctx, k.c, "/v1/catalog/stream", v, nil) {
		if err != nil {
			return err
		}
		if err := receive(u); err != nil {
			return &receiverError{err}
		}
	}
	return api.Errorf(api.CodeUnavailable, "%s ended the catalog's stream", k.c.base.Host)
}

// Services calls the routes of services.
type Services struct{ c *Client }

// Services returns the calls for services.
func (c *Client) Services() Services { return Services{c} }

// List lists the names of services by namespace, with the tags of each.
func (s Services) List(ctx context.Context, q *QueryOptions) ([]*api.ServiceListStub, *QueryMeta, error) {
	return get[[]*api.ServiceListStub](ctx, s.c, "/v1/services", q)
}

// Get returns the routable registrations of a service; an empty list is not an error.
func (s Services) Get(ctx context.Context, name string, q *QueryOptions) ([]*api.ServiceRegistration, *QueryMeta, error) {
	return get[[]*api.ServiceRegistration](ctx, s.c, pathf("/v1/service/%s", name), q)
}

// OfJob lists the routable registrations of a job.
func (s Services) OfJob(ctx context.Context, job string, q *QueryOptions) ([]*api.ServiceRegistration, *QueryMeta, error) {
	return get[[]*api.ServiceRegistration](ctx, s.c, pathf("/v1/job/%s/services", job), q)
}

// OfAllocation returns the services of an allocation if it is routable.
func (s Services) OfAllocation(ctx context.Context, id string, q *QueryOptions) ([]*api.ServiceRegistration, *QueryMeta, error) {
	return get[[]*api.ServiceRegistration](ctx, s.c, pathf("/v1/allocation/%s/services", id), q)
}

// Delete requests the removal of a registration, which servers reject with a reason.
func (s Services) Delete(ctx context.Context, name, id string) error {
	resp, err := s.c.do(ctx, http.MethodDelete, pathf("/v1/service/%s/%s", name, id), s.values(), nil, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (s Services) values() url.Values {
	v := url.Values{}
	s.c.addDefaults(v)
	return v
}
