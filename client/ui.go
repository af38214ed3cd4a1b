// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// UI makes the requests of `reeve ui`.
type UI struct{ c *Client }

// UI returns the requests of `reeve ui`.
func (c *Client) UI() UI { return UI{c.WithNamespace("")} }

// Config returns what the web UI needs before a login. The caller needs no token.
func (u UI) Config(ctx context.Context) (*api.UIConfig, error) {
	config, _, err := get[*api.UIConfig](ctx, u.c, "/v1/ui/config", nil)
	return config, err
}

// Code creates a session with the rights of the caller's token, and a code for it.
func (u UI) Code(ctx context.Context) (*api.UICode, error) {
	return send[*api.UICode](ctx, u.c, http.MethodPut, "/v1/ui/code", nil, nil)
}

// Trade trades a code for its session. The caller needs no token.
func (u UI) Trade(ctx context.Context, code string) (*api.UISession, error) {
	return send[*api.UISession](ctx, u.c, http.MethodPut, "/v1/ui/session", nil, &api.UISessionRequest{Code: code})
}

// Renew extends the session whose token the client has.
func (u UI) Renew(ctx context.Context) (*api.UISession, error) {
	return send[*api.UISession](ctx, u.c, http.MethodPut, "/v1/ui/session/renew", nil, nil)
}

// Rights returns what the caller may do.
func (u UI) Rights(ctx context.Context) (*api.UIRights, error) {
	rights, _, err := get[*api.UIRights](ctx, u.c, "/v1/ui/rights", nil)
	return rights, err
}
