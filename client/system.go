// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
)

// System calls the routes of the whole cluster.
type System struct{ c *Client }

// System returns the calls for the whole cluster.
func (c *Client) System() System { return System{c} }

// CollectGarbage immediately deletes all ended objects that are not needed.
func (s System) CollectGarbage(ctx context.Context) error {
	_, err := send[any](ctx, s.c, http.MethodPut, "/v1/system/gc", nil, nil)
	return err
}
