// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func siteDoor(t *testing.T, hosts ...string) *Door {
	t.Helper()
	d, err := New(Config{Token: "a token of the agent", Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOnlyTheAgentsNamesAreHosts(t *testing.T) {
	d := siteDoor(t, "Reeve.Example.com.")
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost:4646": true, "localhost.": true, "localhost.:80": true,
		"127.0.0.1": true, "127.0.0.1:4646": true, "127.8.9.10:1": true, "[::1]": true, "[::1]:4646": true, "[::ffff:127.0.0.1]:4646": true,
		"reeve.example.com": true, "REEVE.example.COM.:4646": true,

		"": false, ":4646": false, "evil.example": false, "evil.example:4646": false, "localhost.evil.example": false, "evillocalhost": false,
		"127.0.0.1.evil.example": false, "reeve.example.com.evil.example": false, "localhost..": false, "other.reeve.example.com": false,
		"10.0.0.1": false, "0.0.0.0:4646": false, "[::]:4646": false, "[2001:db8::1]:4646": false, "[127.0.0.1]": false, "::1": false, "[::1": false,
		"2130706433": false, "0x7f.1": false, "127.1": false, "0177.0.0.1": false, "localhost:": false, "localhost:x": false, "localhost:99999": false,
		"localhost:4646:4646": false, "user@localhost": false, "localhost/": false, "[::1%25lo]:4646": false, "localhost ": false,
	} {
		if got := d.knows(host); got != want {
			t.Errorf("host %q is the agent's: %v, want %v", host, got, want)
		}
	}
}

// The Host of a request is what its target says, if that is absolute.
func TestTheTargetsHostCounts(t *testing.T) {
	d := siteDoor(t)
	for text, want := range map[string]bool{
		"GET /v1/jobs HTTP/1.1\r\nHost: localhost:4646\r\n\r\n":                                                                      true,
		"GET http://127.0.0.1:4646/v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                      true,
		"GET http://evil.example/v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                        false,
		"GET /v1/jobs HTTP/1.1\r\nHost: evil.example\r\n\r\n":                                                                        false,
		"GET /v1/jobs HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost\r\n\r\n":                                         false,
		"GET /v1/jobs HTTP/1.1\r\nHost:\r\n\r\n":                                                                                     false,
		"GET /v1/jobs HTTP/1.0\r\n\r\n":                                                                                              false,
		"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n":                                               true,
		"GET /v1/jobs HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n":                                         false,
		"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\n\r\n":                                          false,
		"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n":                                                          false,
		"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n":                                          false,
		"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n":                                            false,
		"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-site\r\n\r\n":                                             false,
		"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\n\r\n":                                           true,
		"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: none\r\n\r\n":                                                   true,
		"GET /ui HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\r\n":                      true,
		"POST /ui HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\r\n":                     false,
		"GET /ui HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n\r\n":                       false,
		"GET /x HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: http://evil.example\r\n\r\n":     false,
		"GET /x HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: http://localhost\r\n\r\n":        true,
		"GET /x HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\r\n": false,
	} {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		err = d.CheckSite(r)
		if (err == nil) != want || err != nil && api.CodeOf(err) != api.CodeForbidden {
			t.Errorf("%q: %v; want it admitted: %v", text, err, want)
		}
	}
}

func TestHostsAreNames(t *testing.T) {
	for _, name := range []string{"", ".", "http://reeve", "reeve:4646", "a..b", "*.example.com", "a b", "10.0.0.1", "reeve/", "ä.example"} {
		if _, err := New(Config{Hosts: []string{name}}); err == nil || !strings.Contains(err.Error(), "hosts") {
			t.Errorf("hosts = [%q]: %v; want a refusal that names the key", name, err)
		}
	}
}
