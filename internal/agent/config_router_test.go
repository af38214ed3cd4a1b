// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router"
	"github.com/reeve-run/reeve/internal/router/acme"
	"github.com/reeve-run/reeve/internal/router/certs"
)

func loadText(t *testing.T, text string) (Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent.hcl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return LoadConfig([]string{file})
}

func TestTheRouterBlockIsRead(t *testing.T) {
	c, err := loadText(t, `router {
  enabled           = true
  engine            = "standard"
  http              = "0.0.0.0:80"
  tcp_address       = "10.0.0.1"
  access_log        = "/var/log/access.log"
  access_log_format = "combined"
  access_log_sample = 0.5
  trusted_proxies   = ["10.0.0.0/8", "192.168.1.1"]
  max_header        = 8192
  max_body          = 1000000
  header_timeout    = "1s"
  body_timeout      = "2s"
  idle_timeout      = "3s"
  response_timeout  = "4s"
  connect_timeout   = "5s"
  drain_timeout     = "6s"
}`)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := Router{Enabled: &yes, Config: router.Config{
		HTTPAddr: "0.0.0.0:80", TCPAddress: "10.0.0.1", Engine: router.EngineStandard,
		AccessLog: "/var/log/access.log", AccessFormat: "combined", AccessSample: 0.5,
		Trusted:   []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.168.1.1/32")},
		MaxHeader: 8192, MaxBody: 1000000,
		HeaderTimeout: time.Second, BodyTimeout: 2 * time.Second, IdleTimeout: 3 * time.Second,
		ResponseTimeout: 4 * time.Second, ConnectTimeout: 5 * time.Second, DrainTimeout: 6 * time.Second,
	}}
	if diff := cmp.Diff(want, c.Router, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestABodyTimeoutOfZeroIsNoLimit(t *testing.T) {
	c, err := loadText(t, `router { body_timeout = "0s" }`)
	if err != nil || c.Router.BodyTimeout != router.NoLimit {
		t.Errorf("%v, %v", c.Router.BodyTimeout, err)
	}
}

func TestARouterIsThereWhenItIsWantedOrForTryingThingsOut(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		dev  bool
		set  *bool
		want bool
	}{{false, nil, false}, {true, nil, true}, {false, &yes, true}, {true, &no, false}} {
		config := Config{Dev: c.dev, Router: Router{Enabled: c.set}}
		if got := config.routes(); got != c.want {
			t.Errorf("dev %v, set %v: %v", c.dev, c.set, got)
		}
	}
}

// An empty list closes the names of stacks, and a missing one leaves the default.
func TestTheRoutersStackClientsCanBeClosed(t *testing.T) {
	for text, want := range map[string]string{
		`router { }`:                    "[]",
		`router { stack_clients = [] }`: "[] closed",
		`router { stack_clients = ["10.0.0.0/8", "fd00::1"] }`: "[10.0.0.0/8 fd00::1/128]",
	} {
		c, err := loadText(t, text)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(c.Router.StackClients)
		if c.Router.StackClients != nil && len(c.Router.StackClients) == 0 {
			got += " closed"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestWhatIsWrongWithARouterIsToldAtOnce(t *testing.T) {
	for text, want := range map[string]string{
		`router { trusted_proxies = ["here"] }`: `trusted_proxies: "here": must be an address or a network`,
		`router { stack_clients = ["all"] }`:    `stack_clients: "all": must be an address or a network`,
		`router { body_timeout = "soon" }`:      `body_timeout = "soon": must be a duration above 0`,
		`router { body_timeout = "-1s" }`:       `body_timeout = "-1s": must be a duration above 0`,
		`router { idle_timeout = "0s" }`:        `idle_timeout = "0s": must be a duration above 0`,
		`router { idle_timeout = "-1s" }`:       `idle_timeout = "-1s": must be a duration above 0`,
		`router { port = 80 }`:                  `port`,
		"router {\n  engine = \"slow\"\n}":      `agent.hcl:2:12: router: engine: unknown value; use "fast" or "standard"`,
		"router {\n  engine = 1.5\n}":           `agent.hcl:2:12: router: engine: unknown value; use "fast" or "standard"`,
	} {
		if _, err := loadText(t, text); err == nil || !strings.Contains(errorText(err), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	c := DevConfig()
	c.DataDir = t.TempDir()
	c.Router.Config = router.Config{HTTPAddr: "80", TCPAddress: "eth0", Engine: "quick", AccessFormat: "xml", AccessSample: 2, MaxHeader: 1, MaxBody: -1}
	err := c.Validate()
	for _, want := range []string{`http "80"`, `tcp_address "eth0"`, `engine "quick"`, `access_log_format "xml"`, "access_log_sample 2", "max_header 1", "max_body -1"} {
		if err == nil || !strings.Contains(errorText(err), "router: "+want) {
			t.Errorf("%s is not told: %v", want, err)
		}
	}
}

func errorText(err error) string {
	text := err.Error()
	if e, ok := err.(*api.Error); ok {
		text += strings.Join(e.Detail, "\n")
	}
	return text
}

func TestCertificatesFromVariablesAreConfigured(t *testing.T) {
	c, err := loadText(t, `router {
  https      = "127.0.0.1:8443"
  token_file = "/etc/reeve/router.token"
  certificate { variable = "certs/shop" }
  certificate {
    variable  = "certs/team"
    namespace = "team"
  }
  certificate {
    cert_file = "a.pem"
    key_file  = "a.key"
  }
}`)
	want := []certs.Source{{Variable: "certs/shop", Namespace: "default"}, {Variable: "certs/team", Namespace: "team"}, {Cert: "a.pem", Key: "a.key"}}
	if diff := cmp.Diff(want, c.Router.Certificates); err != nil || diff != "" || c.Router.TokenFile != "/etc/reeve/router.token" || len(c.Router.problems()) > 0 {
		t.Errorf("%v, %v (-want +got):\n%s", err, c.Router.problems(), diff)
	}
	for text, want := range map[string]string{
		`variable = "../secrets"`: "must be the path of a variable",
		`variable = "/certs"`:     "must be the path of a variable",
		`namespace = "team"`:      "add variable",
		`cert_file = "a.pem"`:     "cert_file and key_file are needed, or variable",
		"variable = \"certs/a\"\n cert_file = \"a\"\n key_file = \"a\"": "set either variable",
	} {
		if _, err := loadText(t, "router {\n certificate {\n "+text+"\n }\n}"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	c, err = loadText(t, "router {\n https = \"127.0.0.1:8443\"\n certificate {\n variable = \"certs/a\"\n }\n}")
	if err != nil || !strings.Contains(strings.Join(c.Router.problems(), "\n"), "set token_file") {
		t.Errorf("without a token: %v, %q", err, c.Router.problems())
	}
}

func TestTheACMEBlockIsRead(t *testing.T) {
	c, err := loadText(t, `router {
  https      = "127.0.0.1:8443"
  token_file = "/etc/reeve/router.token"
  acme {
    domains       = ["shop.example.com"]
    route_hosts   = ["*.apps.example.com"]
    email         = "ops@example.com"
    terms_agreed  = true
    directory_url = "https://ca.example.com/directory"
    ca_file       = "/etc/reeve/ca.pem"
    variables     = "tls/acme"
    namespace     = "edge"
    challenges    = ["tls-alpn-01"]
  }
}`)
	want := &acme.Config{
		Domains: []string{"shop.example.com"}, RouteHosts: []string{"*.apps.example.com"}, Email: "ops@example.com", Agreed: true, Directory: "https://ca.example.com/directory",
		CA: "/etc/reeve/ca.pem", Prefix: "tls/acme", Namespace: "edge", Challenges: []string{"tls-alpn-01"},
	}
	if err != nil || !reflect.DeepEqual(want, c.Router.ACME) || len(c.Router.problems()) > 0 {
		t.Errorf("%v, %q: %+v", err, c.Router.problems(), c.Router.ACME)
	}
	c, err = loadText(t, "router {\n acme {\n  domains = [\"../../etc\", \"*.example.com\"]\n }\n}")
	if err != nil {
		t.Fatal(err)
	}
	problems := strings.Join(c.Router.problems(), "\n")
	for _, want := range []string{"terms_agreed = true", "../../etc", "wildcards", "set https", "set token_file"} {
		if !strings.Contains(problems, want) {
			t.Errorf("problems %q do not contain %q", problems, want)
		}
	}
	if d := c.Router.ACME; d.Directory != acme.DefaultDirectory || d.Prefix != "acme" || d.Namespace != "default" {
		t.Errorf("defaults %+v", d)
	}
}

func TestTheExamplesOfRoutersWithCertificatesAreValid(t *testing.T) {
	for _, name := range []string{"agent-https.hcl", "agent-acme.hcl"} {
		c, err := LoadConfig([]string{"../../examples/" + name})
		if err != nil || len(c.Router.problems()) > 0 || len(c.Router.Certificates) == 0 && c.Router.ACME == nil {
			t.Errorf("%s: %v, %q, %+v", name, err, c.Router.problems(), c.Router)
		}
	}
}
