// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/pki"
)

// TestATokenDecidesBeforeItsProcess checks that a user's token limits its bearer even if the
// process is trusted, and after the token has expired.
func TestATokenDecidesBeforeItsProcess(t *testing.T) {
	valid := pki.NewToken(pki.UserToken, strings.Repeat("0", 50)).String()
	expired := pki.NewToken(pki.UserToken, strings.Repeat("0", 50)).String()
	for _, c := range []struct {
		what            string
		uid             uint32
		tls, anonymous  bool
		token           string
		want            Kind
		id, refusalSays string
	}{
		{what: "root with a user's token", token: valid, want: User, id: "accessor"},
		{what: "root with an expired token", token: expired, want: Unknown, refusalSays: "has expired"},
		{what: "root with another program's token", token: "29e1cb2a-06a5-4a0e-9d8f-4f0e0f6a0d6e", want: Local},
		{what: "root", want: Local},
		{what: "a stranger with a user's token", uid: 4242, token: valid, want: User, id: "accessor"},
		{what: "a stranger with an expired token", uid: 4242, token: expired, want: Unknown, refusalSays: "has expired"},
		{what: "a stranger", uid: 4242, want: Unknown, refusalSays: "may not use this API"},
		{what: "a stranger, with an anonymous policy", uid: 4242, anonymous: true, want: Anonymous},
		{what: "an expired token, with an anonymous policy", uid: 4242, anonymous: true, token: expired, want: Unknown, refusalSays: "has expired"},
		{what: "a user over TLS", tls: true, token: valid, want: User, id: "accessor"},
		{what: "an expired token over TLS", tls: true, token: expired, want: Unknown, refusalSays: "has expired"},
		{what: "no token over TLS", tls: true, want: Unknown, refusalSays: "no token"},
		{what: "no token over TLS, with an anonymous policy", tls: true, anonymous: true, want: Anonymous},
	} {
		d, err := New(Config{
			Token: secret, Identify: func(_, _ netip.AddrPort) (Process, error) { return Process{UID: c.uid}, nil },
			IsOperator: func(string) bool { return false },
			UserOf: func(token string) string {
				if token == valid {
					return "accessor"
				}
				return ""
			},
			AnonymousMay: func() bool { return c.anonymous },
		})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "http://localhost/", nil)
		r = r.WithContext(d.Mark(context.Background(), tcp{}))
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		got, err := d.Caller(r)
		if got.Kind != c.want || got.ID != c.id || (err != nil) != (c.refusalSays != "") {
			t.Errorf("%s: %+v, %v, want %s", c.what, got, err, c.want)
		}
		if err != nil && (!strings.Contains(err.Error(), c.refusalSays) || c.token != "" && strings.Contains(err.Error(), c.token)) {
			t.Errorf("%s: the refusal %q lacks %q, or repeats the token", c.what, err, c.refusalSays)
		}
		if got.Kind == User {
			if back, ok := parseCaller(got.Header()); !ok || back != got {
				t.Errorf("%s: %q is parsed as %+v", c.what, got.Header(), back)
			}
		}
	}
	for _, header := range []string{"user", "user/", "anonymous/x", "user/x; expired", "management"} {
		if c, ok := parseCaller(header); ok {
			t.Errorf("%q is parsed as %+v", header, c)
		}
	}
}

// tcp is a connection with addresses.
type tcp struct{ net.Conn }

func (tcp) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4646} }
func (tcp) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 40000} }
