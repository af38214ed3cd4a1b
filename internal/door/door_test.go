// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

const secret = "the-agents-own-secret-token"

// serve serves a door whose callers are said to be c.
func serve(t *testing.T, identify func() (Process, error)) *httptest.Server {
	t.Helper()
	d, err := New(Config{Token: secret, TokenFile: "/data/agent.token", Identify: func(_, _ netip.AddrPort) (Process, error) { return identify() }})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := d.Caller(r); err != nil {
			http.Error(w, err.Error(), api.CodeOf(err).HTTPStatus())
		}
	}))
	s.Config.ConnContext = d.Mark
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func ask(t *testing.T, c *http.Client, url string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(said)
}

func TestWhoIsTrusted(t *testing.T) {
	own := uint32(os.Geteuid())
	for _, c := range []struct {
		what   string
		caller Process
		err    error
		say    string // of the refusal; "" for none
	}{
		{"the agent's user", Process{UID: own}, nil, ""},
		{"root", Process{UID: 0}, nil, ""},
		{"nobody", Process{UID: 65534}, nil, "(65534)"},
		{"a stranger", Process{UID: 4242424}, nil, "user 4242424"},
		{"an isolated task as root", Process{UID: 0, Isolated: true}, nil, "isolated task"},
		{"the agent itself", Process{UID: own, Self: true}, nil, "agent does not pass on"},
		{"nobody knows who", Process{}, errors.New("no such socket"), "no such socket"},
	} {
		s := serve(t, func() (Process, error) { return c.caller, c.err })
		status, said := ask(t, s.Client(), s.URL)
		if c.say == "" {
			if status != http.StatusOK {
				t.Errorf("%s: %d %s; want in", c.what, status, said)
			}
			continue
		}
		if status != http.StatusForbidden {
			t.Errorf("%s: %d, want 403", c.what, status)
		}
		for _, word := range []string{c.say, "/data/agent.token", "NOMAD_TOKEN", "REEVE_TOKEN", "X-Nomad-Token", "-token-file"} {
			if !strings.Contains(said, word) {
				t.Errorf("%s: the refusal does not say %q: %s", c.what, word, said)
			}
		}
		for _, h := range [][]string{{"X-Nomad-Token", secret}, {"Authorization", "Bearer " + secret}, {"Authorization", "bearer " + secret}} {
			if status, said := ask(t, s.Client(), s.URL, h...); status != http.StatusOK {
				t.Errorf("%s with the token in %s: %d %s; want in", c.what, h[0], status, said)
			}
		}
		for _, h := range [][]string{{"X-Nomad-Token", ""}, {"X-Nomad-Token", secret[1:]}, {"X-Nomad-Token", secret + "x"}, {"Authorization", secret}, {"Authorization", "Basic " + secret}} {
			if status, _ := ask(t, s.Client(), s.URL, h...); status != http.StatusForbidden {
				t.Errorf("%s with %s %q: %d, want 403", c.what, h[0], h[1], status)
			}
		}
	}
}

func TestADoorWithoutATokenTakesNone(t *testing.T) {
	d, err := New(Config{Identify: func(_, _ netip.AddrPort) (Process, error) { return Process{UID: 65534}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if _, err := d.Caller(r); err == nil {
		t.Error("a request whose connection is not known came in")
	}
	r.Header.Set("X-Nomad-Token", "")
	r.Header.Set("Authorization", "Bearer ")
	if _, err := d.Caller(r); err == nil {
		t.Error("an empty token came in")
	}
}

func TestACallerIsLookedUpOncePerConnection(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		lookups := 0
		s := serve(t, func() (Process, error) { lookups++; return Process{UID: 0}, nil })
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP1(!http2)
		transport.Protocols.SetUnencryptedHTTP2(http2)
		c := &http.Client{Transport: transport}
		for range 5 {
			if status, said := ask(t, c, s.URL); status != http.StatusOK {
				t.Fatalf("http/2 %v: %d %s", http2, status, said)
			}
		}
		transport.CloseIdleConnections()
		if lookups != 1 {
			t.Errorf("http/2 %v: %d lookups for 5 requests on a connection, want 1", http2, lookups)
		}
	}
}

func TestWhoCalledSudoIsTrusted(t *testing.T) {
	for _, c := range []struct {
		own  int
		sudo string
		want []uint32
	}{
		{0, "", []uint32{0}}, {1000, "", []uint32{0, 1000}}, {0, "1000", []uint32{0, 1000}},
		{0, "x", []uint32{0}}, {0, "-1", []uint32{0}}, {0, "65534", []uint32{0}}, {0, "4294967296", []uint32{0}},
	} {
		if diff := cmp.Diff(c.want, trustedUsers(c.own, c.sudo)); diff != "" {
			t.Errorf("agent of user %d, SUDO_UID=%q (-want +got):\n%s", c.own, c.sudo, diff)
		}
	}
}

func TestTheTokenIsNotPassedOn(t *testing.T) {
	d, err := New(Config{Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{"X-Nomad-Token": {secret}, "Authorization": {"Bearer " + secret}, "Accept": {"a"}}
	d.Strip(h)
	if diff := cmp.Diff(http.Header{"Accept": {"a"}}, h); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	others := http.Header{"X-Nomad-Token": {"another"}, "Authorization": {"Bearer another"}}
	d.Strip(others)
	if len(others) != 2 {
		t.Errorf("another agent's token was taken out: %v", others)
	}
}

func TestAProcessThatPassesOnRequestsNeedsAToken(t *testing.T) {
	s := serve(t, func() (Process, error) { return Process{UID: uint32(os.Geteuid())}, nil })
	if status, said := ask(t, s.Client(), s.URL, CallerHeader, OfOthers); status != http.StatusForbidden || !strings.Contains(said, "passes on requests of others") {
		t.Errorf("without a token: %d %s", status, said)
	}
	if status, said := ask(t, s.Client(), s.URL, CallerHeader, OfOthers, "X-Nomad-Token", "guess"); status != http.StatusForbidden {
		t.Errorf("with a wrong token: %d %s", status, said)
	}
	if status, said := ask(t, s.Client(), s.URL, CallerHeader, OfOthers, "X-Nomad-Token", secret); status != http.StatusOK {
		t.Errorf("with the agent's token: %d %s", status, said)
	}
	if status, said := ask(t, s.Client(), s.URL, CallerHeader, "local"); status != http.StatusOK {
		t.Errorf("an agent without TLS that forwards: %d %s", status, said)
	}
}
