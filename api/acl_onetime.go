// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// OneTimeTokenTTL is the lifetime of a one-time token.
const OneTimeTokenTTL = 10 * time.Minute

// A OneTimeToken stands for a token: it is exchanged once, for a secret of that token. A user
// passes it to a browser, in which the secret itself would remain in the history.
type OneTimeToken struct {
	OneTimeSecretID string // only the response to its creation contains it
	AccessorID      string // of the token for which it stands
	ExpiresAt       time.Time

	CreateIndex uint64
	ModifyIndex uint64
}

// A OneTimeTokenResponse is the answer to the creation of a one-time token.
type OneTimeTokenResponse struct{ OneTimeToken *OneTimeToken }

// A OneTimeTokenExchange presents a one-time token.
type OneTimeTokenExchange struct{ OneTimeSecretID string }

// A OneTimeTokenExchanged is the answer to an exchange: the token with another secret.
type OneTimeTokenExchanged struct{ Token *ACLToken }

// An ACLBootstrapRequest asks for the first management token of a cluster, or for another one
// after a reset.
type ACLBootstrapRequest struct {
	BootstrapSecret string // of the token: a UUID; "": the server chooses it
}
