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

// Catalog is what traffic may go to.
type Catalog struct{ c *Client }

// Catalog returns the calls about the catalog.
func (c *Client) Catalog() Catalog { return Catalog{c} }

// List lists the entries of routable allocations by id.
func (k Catalog) List(ctx context.Context, q *QueryOptions) ([]*api.CatalogEntry, *QueryMeta, error) {
	return get[[]*api.CatalogEntry](ctx, k.c, "/v1/catalog", q)
}

// How long to wait before a broken stream is begun again: soon at first, and
// not much later, because traffic goes where it went before until then.
const (
	streamAgain     = 100 * time.Millisecond
	streamAgainLast = 2 * time.Second
)

// Stream calls receive with the catalog of all namespaces, and then with every
// change of it, until ctx ends or receive returns an error; that is returned.
// While no server can be reached nothing is received: what was known holds. The
// first update after a break is Complete. For a while it also has what was known
// of nodes that servers which lost everything have not heard of yet, and what
// servers that were put back to an older copy of their data do not know.
func (k Catalog) Stream(ctx context.Context, receive func(*api.CatalogUpdate) error) error {
	return k.StreamTelling(ctx, receive, func(error) {})
}

// StreamTelling is Stream, and tells of each break why it was.
func (k Catalog) StreamTelling(ctx context.Context, receive func(*api.CatalogUpdate) error, broke func(error)) error {
	wait := streamAgain
	var known succession
	for {
		err := k.follow(ctx, known.told, func(u *api.CatalogUpdate) error {
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

// receiverError marks what the receiver returned.
type receiverError struct{ err error }

func (e *receiverError) Error() string { return e.err.Error() }

// follow reads one stream to its end.
func (k Catalog) follow(ctx context.Context, told api.Position, receive func(*api.CatalogUpdate) error) error {
	v := toldValues(told)
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

// Services are names that allocations offer something under.
type Services struct{ c *Client }

// Services returns the calls about services.
func (c *Client) Services() Services { return Services{c} }

// List lists the names of services by namespace, with the tags of each.
func (s Services) List(ctx context.Context, q *QueryOptions) ([]*api.ServiceListStub, *QueryMeta, error) {
	return get[[]*api.ServiceListStub](ctx, s.c, "/v1/services", q)
}

// Get lists the routable registrations of a service; none is no error.
func (s Services) Get(ctx context.Context, name string, q *QueryOptions) ([]*api.ServiceRegistration, *QueryMeta, error) {
	return get[[]*api.ServiceRegistration](ctx, s.c, pathf("/v1/service/%s", name), q)
}

// OfJob lists the routable registrations of a job.
func (s Services) OfJob(ctx context.Context, job string, q *QueryOptions) ([]*api.ServiceRegistration, *QueryMeta, error) {
	return get[[]*api.ServiceRegistration](ctx, s.c, pathf("/v1/job/%s/services", job), q)
}

// OfAllocation lists what an allocation offers, if it is routable.
func (s Services) OfAllocation(ctx context.Context, id string, q *QueryOptions) ([]*api.ServiceRegistration, *QueryMeta, error) {
	return get[[]*api.ServiceRegistration](ctx, s.c, pathf("/v1/allocation/%s/services", id), q)
}

// Delete asks to take a registration out, which servers refuse with the reason.
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
