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

// Keyring has the calls about the keys that encrypt variables.
type Keyring struct{ c *Client }

// Keyring returns the calls about root keys and the recovery key.
func (c *Client) Keyring() Keyring { return Keyring{c.WithNamespace("")} }

// List lists the root keys, without the keys themselves.
func (k Keyring) List(ctx context.Context, q *QueryOptions) ([]*api.RootKey, *QueryMeta, error) {
	return get[[]*api.RootKey](ctx, k.c, "/v1/operator/keyring/keys", q)
}

// Rotate makes a new root key active. full also encrypts all variables with it, in the background.
func (k Keyring) Rotate(ctx context.Context, full bool) (*api.KeyringRotateResponse, error) {
	return send[*api.KeyringRotateResponse](ctx, k.c, http.MethodPut, "/v1/operator/keyring/rotate", url.Values{"full": {strconv.FormatBool(full)}}, nil)
}

// Delete deletes a root key. force also deletes the variables that it encrypts.
func (k Keyring) Delete(ctx context.Context, id string, force bool) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, k.c, http.MethodDelete, pathf("/v1/operator/keyring/key/%s", id), url.Values{"force": {strconv.FormatBool(force)}}, nil)
}

// RecoveryKey returns the public part of the recovery key.
func (k Keyring) RecoveryKey(ctx context.Context, q *QueryOptions) (*api.RecoveryKey, *QueryMeta, error) {
	return get[*api.RecoveryKey](ctx, k.c, "/v1/operator/keyring/recovery", q)
}

// SetRecoveryKey stores the public part of a new recovery key.
func (k Keyring) SetRecoveryKey(ctx context.Context, public []byte) (*api.RecoveryKey, error) {
	return send[*api.RecoveryKey](ctx, k.c, http.MethodPut, "/v1/operator/keyring/recovery", nil, &api.RecoveryKey{PublicKey: public})
}

// Recover opens root keys that other machines sealed, with the secret of the recovery key.
func (k Keyring) Recover(ctx context.Context, secret string) (*api.RecoverKeyringResponse, error) {
	return send[*api.RecoverKeyringResponse](ctx, k.c, http.MethodPut, "/v1/operator/keyring/recover", nil, &api.RecoverKeyringRequest{RecoveryKey: secret})
}
