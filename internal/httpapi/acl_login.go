// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
)

// loginBodyLimit bounds the bodies of logins, which everyone may send.
const loginBodyLimit = 64 << 10

// createOneTimeToken creates a one-time token for the caller's token.
func createOneTimeToken(c *call, _ *none) (*api.OneTimeTokenResponse, uint64, error) {
	r := c.rights()
	if r == nil || r.Accessor == "" {
		return nil, 0, api.Errorf(api.CodeInvalid, "%s has no token for which a one-time token could stand: send the request with a token of: reeve acl token create", callerOf(c.r))
	}
	once, index, err := c.Server.CreateOneTimeToken(c.r.Context(), r.Accessor)
	return &api.OneTimeTokenResponse{OneTimeToken: once}, index, err
}

func exchangeOneTimeToken(c *call, in *api.OneTimeTokenExchange) (*api.OneTimeTokenExchanged, uint64, error) {
	token, index, err := c.Server.ExchangeOneTimeToken(c.r.Context(), in.OneTimeSecretID)
	return &api.OneTimeTokenExchanged{Token: token}, index, err
}

func bootstrapACL(c *call, in *api.ACLBootstrapRequest) (*api.ACLToken, uint64, error) {
	return c.Server.BootstrapACL(c.r.Context(), in.BootstrapSecret, c.isTrusted())
}

// isTrusted reports whether the caller may create management tokens. The caller of a route that
// is open to all may be unknown.
func (c *call) isTrusted() bool {
	switch callerOf(c.r).Kind {
	case door.Operator, door.Local:
		return true
	case door.User:
		return c.rights().ACL.IsManagement()
	}
	return false
}
