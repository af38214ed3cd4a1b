// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/testcert"
)

// newToken creates a token with one policy.
func (m *machine) newToken(name, rules string) string {
	m.t.Helper()
	acl := m.Client.ACL()
	if _, err := acl.PutPolicy(m.t.Context(), &api.ACLPolicy{Name: name, Rules: rules}); err != nil {
		m.t.Fatal(err)
	}
	token, err := acl.CreateToken(m.t.Context(), &api.ACLToken{Name: name, Type: api.ACLTokenClient, Policies: []string{name}})
	if err != nil {
		m.t.Fatal(err)
	}
	return token.SecretID
}

func (m *machine) putCertificate(path string, p testcert.Pair) {
	m.t.Helper()
	v := &api.Variable{VariableMetadata: api.VariableMetadata{Path: path}, Items: map[string]string{"certificate": string(p.Cert), "key": string(p.Key)}}
	if _, err := m.Client.Variables().Put(m.t.Context(), v); err != nil {
		m.t.Fatal(err)
	}
}

// TestRouterCertificatesFromVariables replaces a certificate in a variable under load. Then it
// damages the variable and the token, which changes nothing for clients, and restarts the agent.
func TestRouterCertificatesFromVariables(t *testing.T) {
	m := &secureMachine{machine: unstarted(t), ca: testcert.New(t)}
	tokenFile := filepath.Join(m.Dir, "router.token")
	m.Args = []string{"-dev", "-router-https", "127.0.0.1:0", "-config", m.configured(fmt.Sprintf(
		"router {\n  token_file = %q\n  certificate {\n    variable = \"certs/web\"\n  }\n}\n", tokenFile))}
	m.start()
	m.waitReady()
	m.http, m.https = m.status().HTTP, m.status().HTTPS
	reported := func(want string) {
		t.Helper()
		m.eventually("the problem is reported: "+want, func(context.Context) error {
			if c := m.status().Certificates[0]; want == "" && c.Problem != "" || !strings.Contains(c.Problem, want) {
				return fmt.Errorf("%+v", c)
			}
			return nil
		})
	}
	write := func(token string) {
		t.Helper()
		if err := os.WriteFile(tokenFile, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reported("token_file")
	m.putCertificate("certs/web", m.ca.Issue(time.Now().Add(time.Hour), "web.test"))
	write(m.newToken("other", "namespace \"default\" {\n  variables {\n    path \"other/*\" {\n      capabilities = [\"read\"]\n    }\n  }\n}\n"))
	reported(`capabilities = ["read"]`)
	rules, err := os.ReadFile("../../examples/acl/router.hcl")
	if err != nil {
		t.Fatal(err)
	}
	secret := m.newToken("router", string(rules))
	write(secret)
	reported("")
	m.deployed("1")
	served := func() string {
		nc, err := tls.Dial("tcp", m.https, &tls.Config{ServerName: "web.test", RootCAs: m.ca.Pool()})
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		return nc.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	kept := m.asks(true)
	h := hammerWith(t, 4, func(client *http.Client) error {
		asker := kept
		if client.Transport.(*http.Transport).DisableKeepAlives {
			asker = m.asks(false)
			defer asker.CloseIdleConnections()
		}
		_, _, err := textOf(asker, "https://web.test/")
		return err
	})
	for range 3 {
		before, begun := served(), time.Now()
		m.putCertificate("certs/web", m.ca.Issue(time.Now().Add(time.Hour), "web.test"))
		m.eventually("the new certificate is served", func(context.Context) error {
			if served() == before {
				return fmt.Errorf("%+v", m.status().Certificates[0])
			}
			return nil
		})
		t.Logf("served after %s", time.Since(begun).Round(time.Millisecond))
	}
	last := served()
	for _, damage := range []struct {
		want string
		do   func(p testcert.Pair) testcert.Pair
	}{
		{"private key does not match", func(p testcert.Pair) testcert.Pair {
			return testcert.Pair{Cert: p.Cert, Key: m.ca.Issue(time.Now().Add(time.Hour), "web.test").Key}
		}},
		{"expired at", func(testcert.Pair) testcert.Pair { return m.ca.Issue(time.Now().Add(-time.Minute), "web.test") }},
	} {
		m.putCertificate("certs/web", damage.do(m.ca.Issue(time.Now().Add(time.Hour), "web.test")))
		reported(damage.want)
		if got := served(); got != last {
			t.Errorf("%s: another certificate is served", damage.want)
		}
		if out := m.reeve("status"); !strings.Contains(out, damage.want) {
			t.Errorf("reeve status does not show %q:\n%s", damage.want, out)
		}
		if out := m.reeve("route", "certificates"); !strings.Contains(out, damage.want) || !strings.Contains(out, "variable certs/web") {
			t.Errorf("reeve route certificates does not show %q:\n%s", damage.want, out)
		}
	}
	h.stop()
	if h.lost.Load() > 0 || h.sent.Load() == 0 {
		t.Errorf("%d of %d requests were lost, the first one: %s", h.lost.Load(), h.sent.Load(), h.first)
	}
	m.putCertificate("certs/web", m.ca.Issue(time.Now().Add(time.Hour), "web.test"))
	reported("")
	m.Kill()
	if strings.Contains(m.Output(), secret) || strings.Contains(m.Output(), "PRIVATE KEY") {
		t.Error("the log contains the token or a key")
	}
	if found := filesWith(t, m.Dir, "BEGIN PRIVATE KEY"); len(found) > 0 {
		t.Errorf("a private key is on disk: %v", found)
	}
	m.start()
	m.waitReady()
	reported("")
}
