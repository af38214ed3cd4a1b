// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/acmeca"
)

// An issuingRouter is a node whose router orders certificates.
type issuingRouter struct {
	*machine
	https, token string
}

// newSecureFleet returns a server with certificates on loopback, for nodes that join it.
func newSecureFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, server: unstarted(t)}
	f.server.Args = []string{"-server", "-bootstrap"}
	f.server.start()
	return f
}

// token writes a join token to a file.
func (f *fleet) token(kind string) string {
	f.t.Helper()
	return (&members{t: f.t, all: []*machine{f.server}}).token(kind)
}

// routing starts a node with a router on an address of the loopback network. It has no token yet.
func (f *fleet) routing(ip, httpPort, httpsPort string, ca *acmeca.Authority, domains ...string) *issuingRouter {
	f.t.Helper()
	n := unstarted(f.t)
	r := &issuingRouter{machine: n, https: net.JoinHostPort(ip, httpsPort), token: filepath.Join(n.Dir, "router.token")}
	text := fmt.Sprintf(`router {
  enabled    = true
  http       = %q
  https      = %q
  token_file = %q
  acme {
    domains       = ["%s"]
    terms_agreed  = true
    directory_url = %q
    ca_file       = %q
    challenges    = ["http-01"]
  }
}
`, net.JoinHostPort(ip, httpPort), r.https, r.token, strings.Join(domains, `", "`), ca.Directory, ca.CAFile)
	n.Args = []string{"-client", "-node", fmt.Sprint("node-", len(f.nodes)), "-join", f.server.Addr, "-join-token-file", f.token("node"), "-config", n.configured(portsOfNode(len(f.nodes)) + text)}
	n.start()
	f.nodes = append(f.nodes, n)
	f.status(n, api.NodeStatusReady)
	return r
}

func (r *issuingRouter) permit(secret string) {
	r.t.Helper()
	if err := os.WriteFile(r.token, []byte(secret), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// served returns the serial number of the certificate for a name, from a public authority.
func (r *issuingRouter) served(name string) (string, error) {
	nc, err := tls.Dial("tcp", r.https, &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err != nil {
		return "", err
	}
	defer nc.Close()
	leaf := nc.ConnectionState().PeerCertificates[0]
	return leaf.SerialNumber.String(), leaf.VerifyHostname(name)
}

// reports waits until the router's status has a text about a name.
func (r *issuingRouter) reports(name, want string) {
	r.t.Helper()
	r.eventually("the router reports "+want, func(ctx context.Context) error {
		s, err := r.Client.Status().Router(ctx)
		if err != nil {
			return err
		}
		all := ""
		for _, c := range s.Certificates {
			if strings.Contains(c.Problem, name) {
				all += c.Problem + "\n"
			}
		}
		if !strings.Contains(all, want) {
			return fmt.Errorf("problems about %s: %s", name, all)
		}
		return nil
	})
}

// TestRouterACME has two routers with one authority. The first one may order, and the authority
// asks the second one. Then the first one is killed during an order, and the second one orders.
func TestRouterACME(t *testing.T) {
	const shop, late = "shop.example.com", "late.example.com"
	f := newSecureFleet(t)
	httpPort, httpsPort := freePort(t), freePort(t)
	plain, _ := strconv.Atoi(httpPort)
	secure, _ := strconv.Atoi(httpsPort)
	ca := acmeca.Start(t, plain, secure, 3600)
	ca.Point(shop, "127.0.0.2") // the second router
	a := f.routing("127.0.0.1", httpPort, httpsPort, ca, shop, late)
	b := f.routing("127.0.0.2", httpPort, httpsPort, ca, shop, late)
	rules := "namespace \"default\" {\n  variables {\n    path \"acme/*\" {\n      capabilities = [%s]\n    }\n  }\n}\n"
	reader := f.server.newToken("acme-reader", fmt.Sprintf(rules, `"read"`))
	writer := f.server.newToken("acme-writer", fmt.Sprintf(rules, `"read", "write"`))
	b.permit(reader)
	b.reports(late, "add \"write\" to its capabilities")
	a.permit(writer)

	serials := map[string]bool{}
	for _, r := range []*issuingRouter{a, b} {
		r.eventually("the certificate is served", func(context.Context) error {
			serial, err := r.served(shop)
			if err == nil {
				serials[serial] = true
			}
			return err
		})
	}
	if len(serials) != 1 {
		t.Errorf("the routers serve different certificates: %v", serials)
	}

	// The other domain has no address yet: all routers say so, with the next step.
	for _, r := range []*issuingRouter{a, b} {
		r.reports(late, "dig "+late)
		r.reports(late, "try now with: reeve var put -namespace default -merge acme/")
	}
	if out := a.reeve("route", "certificates"); !strings.Contains(out, shop) || !strings.Contains(out, "dig "+late) {
		t.Errorf("reeve route certificates:\n%s", out)
	}
	ca.Point(late, "127.0.0.2")
	held, resume := ca.Hold()
	defer resume()
	before := ca.Orders()
	list, _, err := f.server.Client.Variables().List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	path := ""
	for _, v := range list {
		if strings.HasSuffix(v.Path, "/late_example_com") {
			path = v.Path
		}
	}
	f.server.reeve("var", "put", "-merge", path, "retry_at=now")
	select {
	case <-held:
	case <-t.Context().Done():
		t.Fatal("the first router does not order")
	}
	b.permit(writer)
	a.Kill()
	resume()
	b.eventually("the second router orders", func(context.Context) error {
		_, err := b.served(late)
		return err
	})
	if n := ca.Orders() - before; n != 2 {
		t.Errorf("%d orders, want one of each router", n)
	}
	if serial, err := b.served(shop); err != nil || !serials[serial] {
		t.Errorf("the other certificate changed to %s: %v", serial, err)
	}
	stored, _, err := f.server.Client.Variables().Get(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.Split(stored.Items["key"], "\n")[1]
	for _, r := range []*issuingRouter{a, b} {
		if out := r.Output(); strings.Contains(out, key) || strings.Contains(out, writer) || strings.Contains(out, reader) {
			t.Errorf("the log of %s contains a secret", r.https)
		}
		if found := filesWith(t, r.Dir, key); len(found) > 0 {
			t.Errorf("private keys are on disk: %v", found)
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	address, err := testbed.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(address)
	return port
}
