// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDNSConfig(t *testing.T) {
	c, err := LoadConfig([]string{
		writeConfig(t, "a.hcl", `dns {
  enabled   = true
  address   = "127.0.0.2:53"
  ttl       = "5s"
  upstreams = ["10.0.0.2", "10.0.0.3:5353", "2001:db8::1"]
}`), writeConfig(t, "b.hcl", `dns { zone = "apps.example.com" }`)})
	if err != nil {
		t.Fatal(err)
	}
	if problems := c.DNS.problems(); problems != nil {
		t.Fatal(problems)
	}
	on := true
	want := DNS{Enabled: &on, Address: "127.0.0.2:53", Zone: "apps.example.com", TTL: 5 * time.Second, Upstreams: []string{"10.0.0.2:53", "10.0.0.3:5353", "[2001:db8::1]:53"}}
	if diff := cmp.Diff(want, c.DNS); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !c.answersNames() || (&Config{}).answersNames() || !(&Config{Dev: true}).answersNames() {
		t.Error("names are answered where they should not be, or the other way round")
	}
	if _, err := LoadConfig([]string{writeConfig(t, "c.hcl", `dns { ttl = "soon" }`)}); err == nil || !strings.Contains(err.Error(), `ttl = "soon"`) {
		t.Errorf("a ttl that is none: %v", err)
	}
	bad := DNS{Address: "somewhere", Zone: "a..b", TTL: 1500 * time.Millisecond, Upstreams: []string{"dns.example.com"}}
	problems := strings.Join(bad.problems(), "\n")
	for _, word := range []string{"address \"somewhere\"", "zone \"a..b\"", "ttl 1.5s", "\"dns.example.com\""} {
		if !strings.Contains(problems, word) {
			t.Errorf("nothing is said of %s in:\n%s", word, problems)
		}
	}
}

func TestTakenDNSAddress(t *testing.T) {
	l, err := net.Listen("tcp", DefaultDNSAddr)
	if err == nil { // otherwise it is taken already
		defer l.Close()
	}
	open := func(address string) (*Agent, error) {
		off := false
		c := Config{Dev: true, DataDir: filepath.Join(t.TempDir(), "data"), HTTPAddr: "127.0.0.1:0", LogLevel: "error", Server: Server{Enabled: true}, DNS: DNS{Address: address}}
		c.Router.Enabled = &off
		return New(t.Context(), c)
	}
	a, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	if address, zone := a.DNS(); address == DefaultDNSAddr || address == "" || zone != "reeve" {
		t.Errorf("beside another name server: %q, %q; want another address", address, zone)
	}
	if err := a.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	a.release()
	if _, err := open(DefaultDNSAddr); err == nil || !strings.Contains(err.Error(), "already in use") {
		t.Errorf("an address that is asked for and taken: %v", err)
	}
}
