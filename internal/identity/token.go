// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	// DefaultAudience is that of identities without another one, as in Nomad.
	DefaultAudience = "nomadproject.io"
	// maxToken bounds a token in bytes.
	maxToken = 8 << 10
	// Leeway is the difference of the clocks of two servers that a token tolerates.
	Leeway = time.Minute
)

// Claims say whose token it is. Their names are those of Nomad.
type Claims struct {
	jwt.Claims
	Namespace  string `json:"nomad_namespace"`
	JobID      string `json:"nomad_job_id"`
	Allocation string `json:"nomad_allocation_id"`
	Task       string `json:"nomad_task"`
}

// Sign returns the token of the claims, signed with a key that has an id.
func Sign(id string, key ed25519.PrivateKey, c *Claims) (string, error) {
	options := (&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", id)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, options)
	if err != nil {
		return "", fmt.Errorf("sign an identity: %w", err)
	}
	return jwt.Signed(signer).Claims(c).Serialize()
}

// IsToken reports whether a secret has the form of such a token. It verifies nothing.
func IsToken(secret string) bool {
	return len(secret) <= maxToken && strings.HasPrefix(secret, "eyJ") && strings.Count(secret, ".") == 2
}

// errNotOurs hides from the bearer which check failed.
var errNotOurs = errors.New("the token is not an identity that this cluster signed, or has expired")

// Verify returns the claims of a token. find returns the public key with an id; nil if there is no such key.
func Verify(token string, find func(id string) ed25519.PublicKey, now time.Time) (*Claims, error) {
	if !IsToken(token) {
		return nil, errNotOurs
	}
	// No other algorithm: the header of a token must not choose how it is verified.
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil || len(parsed.Headers) != 1 {
		return nil, errNotOurs
	}
	key := find(parsed.Headers[0].KeyID)
	if key == nil {
		return nil, errNotOurs
	}
	c := new(Claims)
	if err := parsed.Claims(key, c); err != nil {
		return nil, errNotOurs
	}
	if err := c.ValidateWithLeeway(jwt.Expected{Time: now}, Leeway); err != nil {
		return nil, errNotOurs
	}
	return c, nil
}

// IsFor reports whether one of the token's audiences is the given one.
func (c *Claims) IsFor(audience string) bool { return c.Audience.Contains(audience) }

// IsExpired reports whether the token is no longer valid.
func (c *Claims) IsExpired(now time.Time) bool {
	return c.Expiry != nil && now.After(c.Expiry.Time().Add(Leeway))
}
