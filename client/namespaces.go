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

// Namespaces has the calls about namespaces.
type Namespaces struct{ c *Client }

// Namespaces returns the calls about namespaces. The client's own namespace does not
// matter to them.
func (c *Client) Namespaces() Namespaces { return Namespaces{c.WithNamespace("")} }

// List lists namespaces by name.
func (n Namespaces) List(ctx context.Context, q *QueryOptions) ([]*api.Namespace, *QueryMeta, error) {
	return get[[]*api.Namespace](ctx, n.c, "/v1/namespaces", q)
}

// Get returns a namespace.
func (n Namespaces) Get(ctx context.Context, name string, q *QueryOptions) (*api.Namespace, *QueryMeta, error) {
	return get[*api.Namespace](ctx, n.c, pathf("/v1/namespace/%s", name), q)
}

// Put creates or changes a namespace.
func (n Namespaces) Put(ctx context.Context, namespace *api.Namespace) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, n.c, http.MethodPut, "/v1/namespaces", nil, namespace)
}

// PutAt creates or changes a namespace if the stored one has this modify index; 0: if it
// does not exist.
func (n Namespaces) PutAt(ctx context.Context, namespace *api.Namespace, index uint64) (*api.IndexResponse, error) {
	v := url.Values{"cas": {strconv.FormatUint(index, 10)}}
	return send[*api.IndexResponse](ctx, n.c, http.MethodPut, "/v1/namespaces", v, namespace)
}

// Delete deletes a namespace without jobs and children.
func (n Namespaces) Delete(ctx context.Context, name string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, n.c, http.MethodDelete, pathf("/v1/namespace/%s", name), nil, nil)
}
