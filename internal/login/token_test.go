// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/idp"
)

func pemOf(t testing.TB, key any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// jwtMethod returns a method that accepts tokens of static keys.
func jwtMethod(keys ...string) *api.ACLAuthMethod {
	return &api.ACLAuthMethod{
		Name: "ci", Type: api.ACLAuthMethodJWT, TokenLocality: api.ACLTokenLocal, MaxTokenTTL: time.Hour,
		Config: &api.ACLAuthMethodConfig{
			JWTValidationPubKeys: keys, SigningAlgs: []string{"ES256"}, BoundAudiences: []string{"reeve"}, BoundIssuer: []string{"https://ci"},
			ClaimMappings: map[string]string{"sub": "user", "admin": "admin", "/nested/team": "team"}, ListClaimMappings: map[string]string{"groups": "groups"},
		},
	}
}

func provider(t testing.TB, m *api.ACLAuthMethod) *Provider {
	t.Helper()
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := New(m, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var now = time.Unix(1_790_000_000, 0)

func valid(changes map[string]any) map[string]any {
	all := map[string]any{"iss": "https://ci", "aud": "reeve", "sub": "ana", "exp": now.Unix() + 60, "iat": now.Unix()}
	maps.Copy(all, changes)
	for name, value := range all {
		if value == nil {
			delete(all, name)
		}
	}
	return all
}

func TestOnlyTokensForThisClusterAreAccepted(t *testing.T) {
	key := newKey(t)
	p := provider(t, jwtMethod(pemOf(t, &key.PublicKey)))
	skew := int64(defaultSkew / time.Second)
	for what, c := range map[string]struct {
		changes map[string]any
		says    string // "": accepted
	}{
		"a valid token":                     {nil, ""},
		"one of several audiences":          {map[string]any{"aud": []string{"other", "reeve"}}, ""},
		"another audience":                  {map[string]any{"aud": "other"}, "another audience"},
		"a longer audience":                 {map[string]any{"aud": "reeve2"}, "another audience"},
		"no audience":                       {map[string]any{"aud": nil}, "another audience"},
		"an empty list of audiences":        {map[string]any{"aud": []string{}}, "another audience"},
		"an audience that is a number":      {map[string]any{"aud": 7}, "claim aud"},
		"an audience with a number":         {map[string]any{"aud": []any{"reeve", 7}}, "claim aud"},
		"another issuer":                    {map[string]any{"iss": "https://ci.example.com"}, "issuer"},
		"no issuer":                         {map[string]any{"iss": nil}, "issuer"},
		"an issuer that is a list":          {map[string]any{"iss": []string{"https://ci"}}, "issuer"},
		"no expiry":                         {map[string]any{"exp": nil}, "no expiry"},
		"an expiry that is null":            {map[string]any{"exp": []any{nil}}, "claim exp"},
		"an expiry that is a text":          {map[string]any{"exp": fmt.Sprint(now.Unix() + 60)}, "claim exp"},
		"an expiry that is huge":            {map[string]any{"exp": 1e300}, "claim exp"},
		"an expiry before all time":         {map[string]any{"exp": -1}, "claim exp"},
		"an expiry of 0":                    {map[string]any{"exp": 0}, "expired at 1970"},
		"expired within the clocks' skew":   {map[string]any{"exp": now.Unix() - skew + 1}, ""},
		"expired":                           {map[string]any{"exp": now.Unix() - skew}, "expired at"},
		"not yet valid within the skew":     {map[string]any{"nbf": now.Unix() + skew}, ""},
		"not yet valid":                     {map[string]any{"nbf": now.Unix() + skew + 1}, "not valid before"},
		"issued in the future":              {map[string]any{"iat": now.Unix() + skew + 1}, "issued in the future"},
		"no time of issue":                  {map[string]any{"iat": nil}, ""},
		"a time of issue that is an object": {map[string]any{"iat": map[string]any{}}, "claim iat"},
		"a subject that is an object":       {map[string]any{"sub": map[string]any{}}, "claim \"sub\""},
		"groups that are an object":         {map[string]any{"groups": map[string]any{}}, "claim \"groups\""},
		"groups with an object":             {map[string]any{"groups": []any{map[string]any{}}}, "claim \"groups\""},
		"many groups":                       {map[string]any{"groups": strings.Split(strings.Repeat("g,", 9_000), ",")}, "bytes"},
	} {
		_, err := p.Verify(t.Context(), idp.SignWith(t, jose.ES256, key, valid(c.changes)), now)
		if c.says == "" && err != nil || c.says != "" && (api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", what, err, c.says)
		}
	}
}

func TestLeewaysMoveTheBounds(t *testing.T) {
	key := newKey(t)
	m := jwtMethod(pemOf(t, &key.PublicKey))
	m.Config.ClockSkewLeeway, m.Config.ExpirationLeeway, m.Config.NotBeforeLeeway = -1, time.Minute, -time.Hour
	p := provider(t, m)
	for what, c := range map[string]struct {
		changes map[string]any
		ok      bool
	}{
		"within the leeway of expiry": {map[string]any{"exp": now.Unix() - 59}, true},
		"after it":                    {map[string]any{"exp": now.Unix() - 60}, false},
		"not yet valid by a second":   {map[string]any{"nbf": now.Unix() + 1}, false},
		"just valid":                  {map[string]any{"nbf": now.Unix()}, true},
	} {
		if _, err := p.Verify(t.Context(), idp.SignWith(t, jose.ES256, key, valid(c.changes)), now); (err == nil) != c.ok {
			t.Errorf("%s: %v, want it accepted: %t", what, err, c.ok)
		}
	}
}

// TestForgedTokensAreRefused tries the known attacks on signed tokens.
func TestForgedTokensAreRefused(t *testing.T) {
	key := newKey(t)
	public := pemOf(t, &key.PublicKey)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	strong, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	m := jwtMethod(public, pemOf(t, &strong.PublicKey))
	m.Config.SigningAlgs = append([]string{}, api.SigningAlgorithms...)
	p := provider(t, m)
	good := idp.SignWith(t, jose.ES256, key, valid(nil))
	if _, err := p.Verify(t.Context(), good, now); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(good, ".")
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	other := newKey(t)
	embedded := jose.JSONWebKey{Key: other, KeyID: "x"}
	withJWK, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: embedded}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	jws, err := withJWK.Sign([]byte(fmt.Sprintf(`{"iss":"https://ci","aud":"reeve","exp":%d}`, now.Unix()+60)))
	if err != nil {
		t.Fatal(err)
	}
	carried, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	for what, token := range map[string]string{
		"nothing":                      "",
		"no token":                     "a.b",
		"dots":                         "...",
		"alg none":                     encode(`{"alg":"none"}`) + "." + parts[1] + ".",
		"alg None":                     encode(`{"alg":"None"}`) + "." + parts[1] + "." + parts[2],
		"no alg":                       encode(`{}`) + "." + parts[1] + "." + parts[2],
		"HS256 with the public key":    idp.SignWith(t, jose.HS256, []byte(public), valid(nil)),
		"HS256 with the key's DER":     idp.SignWith(t, jose.HS256, der, valid(nil)),
		"another key":                  idp.SignWith(t, jose.ES256, other, valid(nil)),
		"a key in the token":           carried,
		"RS256 for an ECDSA signature": encode(`{"alg":"RS256"}`) + "." + parts[1] + "." + parts[2],
		"no signature":                 parts[0] + "." + parts[1] + ".",
		"other claims":                 parts[0] + "." + encode(`{"iss":"https://ci","aud":"reeve","exp":9999999999,"sub":"root"}`) + "." + parts[2],
		"a kid that is a path":         encode(`{"alg":"ES256","kid":"../../etc/passwd"}`) + "." + parts[1] + "." + parts[2],
		"a key's address":              encode(`{"alg":"ES256","jku":"https://evil.example/keys"}`) + "." + parts[1] + "." + parts[2],
		"an unknown critical header":   encode(`{"alg":"ES256","crit":["x"],"x":1}`) + "." + parts[1] + "." + parts[2],
		"a JSON serialization":         `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"a huge token":                 good + strings.Repeat("A", longestToken),
		"claims that are a list":       idp.SignWith(t, jose.ES256, other, nil),
	} {
		_, err := p.Verify(t.Context(), token, now)
		if api.CodeOf(err) != api.CodeForbidden {
			t.Errorf("%s: %v, want a refusal", what, err)
		} else if len(token) > 20 && strings.Contains(err.Error(), token[:20]) {
			t.Errorf("%s: the error repeats the token: %v", what, err)
		}
	}
	for _, payload := range []string{"[]", "null", "7", "{} {}", "{", strings.Repeat("[", 20_000)} {
		s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
		if err != nil {
			t.Fatal(err)
		}
		jws, err := s.Sign([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		token, err := jws.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Verify(t.Context(), token, now); api.CodeOf(err) != api.CodeForbidden {
			t.Errorf("the claims %.10s: %v, want a refusal", payload, err)
		}
	}
}

func TestKeysThatAreTooWeakAreRefused(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"1024 bits": pemOf(t, &weak.PublicKey), "no PEM": "secret", "nothing": "",
		"a private key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
		"two keys":      pemOf(t, &key.PublicKey) + pemOf(t, &key.PublicKey),
	} {
		if _, err := New(jwtMethod(text), ""); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("%s: %v, want an error", what, err)
		}
	}
}

// FuzzVerify looks for tokens that are accepted without a signature of the key, and for panics.
func FuzzVerify(f *testing.F) {
	key := newKey(f)
	p := provider(f, jwtMethod(pemOf(f, &key.PublicKey)))
	good := idp.SignWith(f, jose.ES256, key, valid(map[string]any{"groups": []string{"a"}}))
	parts := strings.Split(good, ".")
	for _, seed := range []string{good, "", "..", parts[0] + "..", good + ".", strings.Repeat("e30.", 5), "eyJhbGciOiJub25lIn0." + parts[1] + "."} {
		f.Add(seed)
	}
	signed, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := p.Verify(t.Context(), token, now); err == nil {
			got := strings.Split(token, ".")
			signature, err := base64.RawURLEncoding.DecodeString(got[len(got)-1])
			if len(got) != 3 || got[0] != parts[0] || got[1] != parts[1] || err != nil || string(signature) != string(signed) {
				t.Errorf("a token that the key did not sign is accepted: %q", token)
			}
		}
	})
}

// BenchmarkVerify verifies a token with a static key.
func BenchmarkVerify(b *testing.B) {
	key := newKey(b)
	p := provider(b, jwtMethod(pemOf(b, &key.PublicKey)))
	token := idp.SignWith(b, jose.ES256, key, valid(map[string]any{"groups": []string{"a", "b"}}))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Verify(b.Context(), token, now); err != nil {
			b.Fatal(err)
		}
	}
}
