// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Bootstrap returns another management token, if the reset file on the leader permits it. The server
// chooses an empty secret.
func (a ACL) Bootstrap(ctx context.Context, secret string) (*api.ACLToken, error) {
	return send[*api.ACLToken](ctx, a.cluster(), http.MethodPut, "/v1/acl/bootstrap", nil, &api.ACLBootstrapRequest{BootstrapSecret: secret})
}

// CreateOneTimeToken creates a one-time token, which stands for the caller's token.
func (a ACL) CreateOneTimeToken(ctx context.Context) (*api.OneTimeToken, error) {
	answer, err := send[*api.OneTimeTokenResponse](ctx, a.cluster(), http.MethodPut, "/v1/acl/token/onetime", nil, nil)
	if err != nil {
		return nil, err
	}
	return answer.OneTimeToken, nil
}

// ExchangeOneTimeToken returns the token for which a one-time token stands, with a new secret. The
// caller needs no token of its own.
func (a ACL) ExchangeOneTimeToken(ctx context.Context, secret string) (*api.ACLToken, error) {
	answer, err := send[*api.OneTimeTokenExchanged](ctx, a.cluster(), http.MethodPut, "/v1/acl/token/onetime/exchange", nil, &api.OneTimeTokenExchange{OneTimeSecretID: secret})
	if err != nil {
		return nil, err
	}
	return answer.Token, nil
}
