// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// ofTask is a connection on the socket of a task.
type ofTask struct{ net.Conn }

func (ofTask) LocalAddr() net.Addr {
	return &net.UnixAddr{Name: "/proc/self/fd/3/.socket-x", Net: "unix"}
}
func (ofTask) RemoteAddr() net.Addr { return TaskAddr("task 5f3e/web") }

// TestASocketOfATaskAlwaysNeedsAToken sends requests whose process is trusted elsewhere, where policies
// grant something to callers without a token.
func TestASocketOfATaskAlwaysNeedsAToken(t *testing.T) {
	const identity = "header.claims.signature"
	trusted := func(c *Config) {
		c.Identify = func(_, _ netip.AddrPort) (Process, error) { return Process{}, nil }
		c.AnonymousMay = func() bool { return true }
		c.UserOf = func(token string) string {
			if token == identity {
				return "5f3e:web:default"
			}
			return ""
		}
	}
	onlyNode := func(c *Config) { trusted(c); c.IsOperator, c.UserOf, c.AnonymousMay = nil, nil, nil }
	alone := func(c *Config) { onlyNode(c); c.Peer = nil }
	for _, c := range []struct {
		what, token string
		change      func(*Config)
		want        Kind
		says        string
	}{
		{"none", "", trusted, Unknown, "need a token"},
		{"none, on a node", "", onlyNode, Unknown, "need a token"},
		{"none, without a cluster", "", alone, Unknown, "need a token"},
		{"a wrong one", "guess", trusted, Unknown, "not valid"},
		{"its identity", identity, trusted, User, ""},
		{"its identity, on a node", identity, onlyNode, Bearer, ""},
		{"its identity, without a cluster", identity, alone, Unknown, "cannot check"},
		{"an operator's", operatorToken, trusted, Operator, ""},
		{"the agent's", secret, trusted, Local, ""},
		{"the agent's, without a cluster", secret, alone, Local, ""},
	} {
		d := clusterDoor(t, nil, c.change)
		for _, header := range []string{"X-Nomad-Token", "Authorization"} {
			r := httptest.NewRequest(http.MethodGet, "http://api/v1/vars", nil)
			r.TLS = nil
			r = r.WithContext(d.Mark(r.Context(), ofTask{}))
			r.Header.Set(CallerHeader, "operator")
			if header == "Authorization" && c.token != "" {
				r.Header.Set(header, "Bearer "+c.token)
			} else {
				r.Header.Set(header, c.token)
			}
			if err := d.CheckSite(r); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			got, err := d.Caller(r)
			if got.Kind != c.want || c.says != "" && (api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("token %s in %s: %+v, %v; want %s that says %q", c.what, header, got, err, c.want, c.says)
			}
		}
	}
}
