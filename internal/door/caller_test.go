// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
)

const operatorToken = "reeve-operator-1-digest-secret"

// clusterDoor returns a door of a server whose process looks untrusted, so that only
// certificates and tokens decide. The peers of connections are named by their certificates.
func clusterDoor(t *testing.T, peers map[*x509.Certificate]pki.Identity, change ...func(*Config)) *Door {
	t.Helper()
	c := Config{
		Token: secret, TokenFile: "/data/agent.token",
		Identify: func(_, _ netip.AddrPort) (Process, error) { return Process{UID: 65534}, nil },
		Peer: func(s tls.ConnectionState) (pki.Identity, bool) {
			id, ok := peers[s.PeerCertificates[0]]
			return id, ok
		},
		IsOperator: func(token string) bool { return token == operatorToken },
		Removed:    func(id string) bool { return strings.HasPrefix(id, "removed") },
	}
	for _, f := range change {
		f(&c)
	}
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// onNode configures the door of an agent without a server, which cannot check tokens.
func onNode(c *Config) { c.IsOperator = nil }

func TestCallers(t *testing.T) {
	member := func(id string, role pki.Role, expired bool) pki.Identity {
		return pki.Identity{ID: id, Role: role, Expired: expired}
	}
	server, node := member("s1", pki.RoleServer, false), member("n1", pki.RoleNode, false)
	operator := []string{"X-Nomad-Token", operatorToken}
	for _, c := range []struct {
		what   string
		plain  bool
		peer   pki.Identity // without an id: no certificate
		header []string
		change func(*Config)
		want   Caller
		says   string // of the error
	}{
		{what: "a server", peer: server, want: Caller{Kind: Server, ID: "s1"}},
		{what: "a server with an expired certificate", peer: member("s1", pki.RoleServer, true), want: Caller{Kind: Server, ID: "s1", Expired: true}},
		{what: "a node", peer: node, want: Caller{Kind: Node, ID: "n1"}},
		{what: "a node with an expired certificate", peer: member("n1", pki.RoleNode, true), want: Caller{Kind: Node, ID: "n1", Expired: true}},
		{what: "a member with another role", peer: member("x", "admin", false), want: Caller{Kind: Unknown}, says: "unknown role"},
		{what: "a removed server", peer: member("removed-s", pki.RoleServer, false), want: Caller{Kind: Unknown}, says: "server removed-s was removed from the cluster"},
		{what: "a removed node", peer: member("removed-n", pki.RoleNode, false), want: Caller{Kind: Unknown}, says: "join again"},
		{what: "a removed node with an operator's token", peer: member("removed-n", pki.RoleNode, false), header: operator, want: Caller{Kind: Unknown}, says: "was removed"},

		{what: "a server for a node", peer: server, header: []string{CallerHeader, "node/n2"}, want: Caller{Kind: Node, ID: "n2"}},
		{what: "a server for a node with an expired certificate", peer: server, header: []string{CallerHeader, "node/n2; expired"}, want: Caller{Kind: Node, ID: "n2", Expired: true}},
		{what: "a server for an operator", peer: server, header: []string{CallerHeader, "operator"}, want: Caller{Kind: Operator}},
		{what: "a server for a local user", peer: server, header: []string{CallerHeader, "local"}, want: Caller{Kind: Local}},
		{what: "a server for a node that was removed since", peer: server, header: []string{CallerHeader, "node/removed-n"}, want: Caller{Kind: Unknown}, says: "was removed"},
		{what: "a server for a kind of callers that a later release adds", peer: server, header: []string{CallerHeader, "tenant/x"}, want: Caller{Kind: Unknown}, says: "does not know"},
		{what: "a server for nobody", peer: server, header: []string{CallerHeader, "unknown"}, want: Caller{Kind: Unknown}, says: "does not know"},
		{what: "a server for an empty caller", peer: server, header: []string{CallerHeader, ""}, want: Caller{Kind: Unknown}, says: "does not know"},
		{what: "a server for a node without an id", peer: server, header: []string{CallerHeader, "node/"}, want: Caller{Kind: Unknown}, says: "does not know"},

		{what: "a node that says it forwards for an operator", peer: node, header: []string{CallerHeader, "operator"}, want: Caller{Kind: Unknown}, says: "no token"},
		{what: "a node that says it forwards for another node", peer: node, header: []string{CallerHeader, "node/n2"}, want: Caller{Kind: Unknown}, says: "no token"},
		{what: "a node that forwards a request whose token was lost", peer: node, header: []string{CallerHeader, "bearer"}, want: Caller{Kind: Unknown}, says: "no token"},
		{what: "a node that forwards a request with a blank token", peer: node, header: []string{CallerHeader, "bearer", "X-Nomad-Token", " "}, want: Caller{Kind: Unknown}, says: "no token"},
		{what: "a node that forwards an operator's request", peer: node, header: append([]string{CallerHeader, "bearer"}, operator...), want: Caller{Kind: Operator}},
		{what: "a node that forwards the request of a stranger", peer: node, header: []string{CallerHeader, ""}, want: Caller{Kind: Unknown}, says: "no token"},
		{what: "an expired node that forwards a request", peer: member("n1", pki.RoleNode, true), header: append([]string{CallerHeader, "bearer"}, operator...), want: Caller{Kind: Unknown}, says: "forwards no requests"},
		{what: "nobody who says to forward for an operator", header: []string{CallerHeader, "operator"}, want: Caller{Kind: Unknown}, says: "no token"},
		{what: "a stranger of this machine who says to forward for an operator", plain: true, header: []string{CallerHeader, "operator"}, want: Caller{Kind: Unknown}, says: "(65534)"},

		{what: "an operator", header: operator, want: Caller{Kind: Operator}},
		{what: "an operator by Authorization", header: []string{"Authorization", "Bearer " + operatorToken}, want: Caller{Kind: Operator}},
		{what: "an operator without TLS", plain: true, header: operator, want: Caller{Kind: Operator}},
		{what: "an operator through a node", peer: node, header: operator, want: Caller{Kind: Operator}},
		{what: "a wrong token through a node", peer: node, header: []string{"X-Nomad-Token", "guess"}, want: Caller{Kind: Unknown}, says: "not valid"},
		{what: "a wrong token in Authorization through a node", peer: node, header: []string{"Authorization", "Bearer guess"}, want: Caller{Kind: Unknown}, says: "not valid"},
		{what: "an expired node with an operator's token", peer: member("n1", pki.RoleNode, true), header: operator, want: Caller{Kind: Node, ID: "n1", Expired: true}},
		{what: "nobody over TLS", want: Caller{Kind: Unknown}, says: "`reeve login`"},
		{what: "a wrong token over TLS", header: []string{"X-Nomad-Token", "guess"}, want: Caller{Kind: Unknown}, says: "not valid"},
		{what: "the agent's token over TLS", header: []string{"X-Nomad-Token", secret}, want: Caller{Kind: Local}},
		{what: "the token of another machine's agent", header: []string{"X-Nomad-Token", secret + "x"}, want: Caller{Kind: Unknown}, says: "not valid"},

		{what: "a token at an agent that cannot check it", header: operator, change: onNode, want: Caller{Kind: Bearer}},
		{what: "a token without TLS at an agent that cannot check it", plain: true, header: operator, change: onNode, want: Caller{Kind: Bearer}},
		{what: "nobody at an agent that cannot check tokens", change: onNode, want: Caller{Kind: Unknown}, says: "no token"},
		{what: "a node with a token at an agent that cannot check it", peer: node, header: operator, change: onNode, want: Caller{Kind: Bearer}},
	} {
		certificate := new(x509.Certificate)
		change := func(*Config) {}
		if c.change != nil {
			change = c.change
		}
		d := clusterDoor(t, map[*x509.Certificate]pki.Identity{certificate: c.peer}, change)
		r := httptest.NewRequest(http.MethodGet, "https://s1:4646/v1/jobs", nil)
		r.TLS = new(tls.ConnectionState)
		if c.plain {
			r.TLS = nil
			r = r.WithContext(d.Mark(r.Context(), between{}))
		}
		if c.peer.ID != "" {
			r.TLS.PeerCertificates = []*x509.Certificate{certificate}
		}
		for i := 0; i+1 < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		got, err := d.Caller(r)
		if got != c.want || (err != nil) != (c.want.Kind == Unknown) {
			t.Errorf("%s: got %+v, %v; want %+v", c.what, got, err, c.want)
		}
		if c.says != "" && (api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v, want a refusal that says %q", c.what, err, c.says)
		}
	}
}

// TestTheCallersHeaderIsOneValue checks that a second header cannot override the first.
func TestTheCallersHeaderIsOneValue(t *testing.T) {
	certificate := new(x509.Certificate)
	d := clusterDoor(t, map[*x509.Certificate]pki.Identity{certificate: {ID: "s1", Role: pki.RoleServer}})
	r := httptest.NewRequest(http.MethodGet, "https://s1:4646/v1/jobs", nil)
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}}
	r.Header[CallerHeader] = []string{"node/n1", "operator"}
	if got, err := d.Caller(r); got.Kind != Unknown || err == nil {
		t.Errorf("two callers: got %+v, %v; want nobody", got, err)
	}
}

func TestCallersSurviveTheirHeader(t *testing.T) {
	for _, c := range []Caller{{Kind: Operator}, {Kind: Local}, {Kind: Server, ID: "s1"}, {Kind: Node, ID: "n1"}, {Kind: Node, ID: "n1", Expired: true}} {
		if got, ok := parseCaller(c.Header()); !ok || got != c {
			t.Errorf("%+v as %q: got %+v, %v", c, c.Header(), got, ok)
		}
	}
	for _, c := range []Caller{{Kind: Unknown}, {Kind: Bearer}} {
		if got, ok := parseCaller(c.Header()); ok {
			t.Errorf("%+v as %q counts as %+v", c, c.Header(), got)
		}
	}
}

func TestSitesAreCheckedForOperators(t *testing.T) {
	d := clusterDoor(t, nil)
	for _, c := range []struct {
		what, url string
		header    []string
		ok        bool
	}{
		{"any host over TLS", "https://reeve.example.com:4646/", nil, true},
		{"any host without TLS", "http://reeve.example.com:4646/", nil, false},
		{"a page of another site", "https://10.0.0.5:4646/", []string{"Origin", "https://evil.example"}, false},
		{"a form of another site", "https://10.0.0.5:4646/", []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"a page of the agent", "https://10.0.0.5:4646/", []string{"Origin", "https://10.0.0.5:4646"}, true},
	} {
		r := httptest.NewRequest(http.MethodPut, c.url, nil) // with TLS for https
		r.Header.Set("X-Nomad-Token", operatorToken)
		for i := 0; i+1 < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		if err := d.CheckSite(r); (err == nil) != c.ok {
			t.Errorf("%s: got %v, want admitted: %v", c.what, err, c.ok)
		}
	}
}

// between is a connection on this machine.
type between struct{ net.Conn }

func (between) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4646} }
func (between) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 40000} }
