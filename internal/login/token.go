// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/reeve-run/reeve/api"
)

// longestToken bounds a token, in bytes.
const longestToken = 32 << 10

// claims are those of a token whose signature is valid.
type claims map[string]any

// A check says what a token must contain.
type check struct {
	algorithms []jose.SignatureAlgorithm
	keys       keys
	issuers    []string // one of them; none: any
	audiences  []string // one of them; none: the token must have no audience
	expiry     time.Duration
	notBefore  time.Duration
	skew       time.Duration
}

// verify returns the claims of a token. Its errors do not contain the token.
func (c *check) verify(ctx context.Context, token string, now time.Time) (claims, error) {
	if len(token) > longestToken {
		return nil, refuse("it has %d bytes; at most %d are accepted", len(token), longestToken)
	}
	jws, err := jose.ParseSignedCompact(token, c.algorithms)
	if err != nil {
		return nil, refuse("it is not a signed token (JWT) with one of the algorithms %v", c.algorithms)
	}
	header := jws.Signatures[0].Protected
	candidates, err := c.keys.find(ctx, header.KeyID, header.Algorithm, now)
	if err != nil {
		return nil, err
	}
	var payload []byte
	for _, key := range candidates {
		if payload, err = jws.Verify(key); err == nil {
			break
		}
		payload = nil
	}
	if payload == nil {
		return nil, refuse("its signature is not of a key of the identity provider")
	}
	found := claims{}
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	if err := d.Decode(&found); err != nil || d.More() {
		return nil, refuse("its claims are not a JSON object")
	}
	return found, c.checkClaims(found, now)
}

// checkClaims compares the claims with what the method accepts.
func (c *check) checkClaims(found claims, now time.Time) error {
	if issuer, _ := found["iss"].(string); len(c.issuers) > 0 && !slices.Contains(c.issuers, issuer) {
		return refuse("its issuer %.200q is not one that the method accepts", issuer)
	}
	audience, err := found.audience()
	switch {
	case err != nil:
		return err
	case len(c.audiences) == 0 && len(audience) > 0:
		return refuse("it is for the audience %.200q, and the method has no BoundAudiences", audience)
	case len(c.audiences) > 0 && !slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(c.audiences, a) }):
		return refuse("it is for another audience than this cluster: %.200q", audience)
	}
	expires, err := found.time("exp")
	if err != nil {
		return err
	}
	from, err := found.time("nbf")
	if err != nil {
		return err
	}
	issued, err := found.time("iat")
	switch {
	case err != nil:
		return err
	case expires.IsZero():
		return refuse("it has no expiry (claim exp)")
	case !now.Before(expires.Add(c.expiry + c.skew)):
		return refuse("it expired at %s; get a new one", expires.UTC().Format(time.RFC3339))
	case now.Add(c.notBefore + c.skew).Before(from):
		return refuse("it is not valid before %s; compare the clocks of the servers and of the identity provider", from.UTC().Format(time.RFC3339))
	case now.Add(c.skew).Before(issued):
		return refuse("it was issued in the future, at %s; compare the clocks of the servers and of the identity provider", issued.UTC().Format(time.RFC3339))
	}
	return nil
}

// audience returns the claim aud, which is a text or a list.
func (c claims) audience() ([]string, error) {
	switch aud := c["aud"].(type) {
	case nil:
		return nil, nil
	case string:
		return []string{aud}, nil
	case []any:
		var all []string
		for _, a := range aud {
			text, ok := a.(string)
			if !ok {
				return nil, refuse("its audience (claim aud) is not a list of texts")
			}
			all = append(all, text)
		}
		return all, nil
	}
	return nil, refuse("its audience (claim aud) is not a list of texts")
}

// lastSecond is the end of the year 9999.
const lastSecond = 253402300799

// time returns a claim with a time; zero if the claim is absent.
func (c claims) time(name string) (time.Time, error) {
	value, ok := c[name]
	if !ok {
		return time.Time{}, nil
	}
	number, ok := value.(json.Number)
	if !ok {
		return time.Time{}, refuse("its claim %s is not a time", name)
	}
	seconds, err := number.Float64()
	if err != nil || math.IsNaN(seconds) || seconds < 0 || seconds > lastSecond {
		return time.Time{}, refuse("its claim %s is not a time", name)
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)), nil
}

// refuse returns the refusal of a token.
func refuse(format string, args ...any) error {
	return api.Errorf(api.CodeForbidden, "the token is not accepted: %s", fmt.Sprintf(format, args...))
}
