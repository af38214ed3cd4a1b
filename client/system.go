// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
)

// System is what concerns a cluster as a whole.
type System struct{ c *Client }

// System returns the calls about the cluster as a whole.
func (c *Client) System() System { return System{c} }

// CollectGarbage forgets at once all that has ended and is not needed.
func (s System) CollectGarbage(ctx context.Context) error {
	_, err := send[any](ctx, s.c, http.MethodPut, "/v1/system/gc", nil, nil)
	return err
}
