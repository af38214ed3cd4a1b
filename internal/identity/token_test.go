// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

var (
	now   = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	first = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	other = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize))
)

func known(id string) ed25519.PublicKey {
	switch id {
	case "k1":
		return first.Public().(ed25519.PublicKey)
	case "k2":
		return other.Public().(ed25519.PublicKey)
	}
	return nil
}

func claims(expires time.Duration) *Claims {
	c := &Claims{Namespace: "default", JobID: "web", Allocation: "a1", Task: "main"}
	c.Subject, c.Audience = "global:default:web:g:main:default", jwt.Audience{DefaultAudience}
	c.IssuedAt, c.NotBefore = jwt.NewNumericDate(now), jwt.NewNumericDate(now)
	if expires != 0 {
		c.Expiry = jwt.NewNumericDate(now.Add(expires))
	}
	return c
}

func signed(t testing.TB, id string, key ed25519.PrivateKey, c *Claims) string {
	t.Helper()
	token, err := Sign(id, key, c)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestOnlyOurTokensAreAccepted(t *testing.T) {
	token := signed(t, "k1", first, claims(0))
	c, err := Verify(token, known, now)
	if err != nil || c.JobID != "web" || c.Allocation != "a1" || c.Task != "main" || c.Namespace != "default" || !c.IsFor(DefaultAudience) || c.IsFor("vault.io") {
		t.Fatalf("%+v, %v", c, err)
	}
	header, rest, _ := strings.Cut(token, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	with := func(header string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + payload + "." + signature
	}
	public, err := x509.MarshalPKIXPublicKey(known("k1"))
	if err != nil {
		t.Fatal(err)
	}
	confused, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: public}, (&jose.SignerOptions{}).WithHeader("kid", "k1"))
	if err != nil {
		t.Fatal(err)
	}
	hmac, err := jwt.Signed(confused).Claims(claims(0)).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	changed := []byte(payload)
	changed[10] ^= 1
	early := claims(0)
	early.NotBefore = jwt.NewNumericDate(now.Add(2 * Leeway))
	huge := claims(0)
	huge.JobID = strings.Repeat("x", maxToken)
	for what, token := range map[string]string{
		"alg none":                 with(`{"alg":"none","kid":"k1"}`),
		"alg none, unsigned":       base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"k1"}`)) + "." + payload + ".",
		"alg HS256":                with(`{"alg":"HS256","kid":"k1"}`),
		"the public key as secret": hmac,
		"an embedded key":          with(`{"alg":"EdDSA","jwk":{"kty":"OKP","crv":"Ed25519","x":"AAAA"}}`),
		"a path as key id":         with(`{"alg":"EdDSA","kid":"../../etc/passwd"}`),
		"the id of another key":    with(`{"alg":"EdDSA","kid":"k2"}`),
		"an unknown key":           signed(t, "k3", first, claims(0)),
		"another key":              signed(t, "k1", other, claims(0)),
		"critical extensions":      with(`{"alg":"EdDSA","kid":"k1","crit":["x"],"x":1}`),
		"a changed payload":        header + "." + string(changed) + "." + signature,
		"a cut signature":          token[:len(token)-4],
		"expired":                  signed(t, "k1", first, claims(-2*Leeway)),
		"not valid yet":            signed(t, "k1", first, early),
		"huge claims":              signed(t, "k1", first, huge),
		"no token":                 "eyJ",
		"three empty parts":        "eyJ..",
		"a user's token":           "reeve-user-1-abc-def",
		"":                         "",
	} {
		if c, err := Verify(token, known, now); err == nil {
			t.Errorf("%s: %+v", what, c)
		}
	}
	if _, err := Verify(signed(t, "k2", other, claims(-Leeway/2)), known, now); err != nil {
		t.Errorf("within the leeway: %v", err)
	}
	if c := claims(time.Hour); c.IsExpired(now.Add(time.Hour)) || !c.IsExpired(now.Add(time.Hour+2*Leeway)) || claims(0).IsExpired(now.Add(1e6*time.Hour)) {
		t.Error("the token expires at another time")
	}
}

func TestKeySetsContainPublicKeysOnly(t *testing.T) {
	var s KeySet
	s.Add("k1", known("k1"))
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read jose.JSONWebKeySet // as verifiers read it
	if err := json.Unmarshal(text, &read); err != nil || len(read.Key("k1")) != 1 || !read.Key("k1")[0].IsPublic() || !read.Key("k1")[0].Valid() {
		t.Errorf("%s is read as %+v, %v", text, read, err)
	}
	for _, want := range []string{`"kid":"k1"`, `"alg":"EdDSA"`, `"crv":"Ed25519"`, `"use":"sig"`, `"kty":"OKP"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if strings.Contains(string(text), `"d"`) {
		t.Errorf("the set contains a private key: %s", text)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(signed(f, "k1", first, claims(0)))
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		c, err := Verify(token, known, now)
		if err == nil && (c.JobID != "web" || c.Allocation != "a1") {
			t.Errorf("%q is accepted as %+v", token, c)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	for b.Loop() {
		signed(b, "k1", first, claims(time.Hour))
	}
}

func BenchmarkVerify(b *testing.B) {
	token := signed(b, "k1", first, claims(time.Hour))
	for b.Loop() {
		if _, err := Verify(token, known, now); err != nil {
			b.Fatal(err)
		}
	}
}
