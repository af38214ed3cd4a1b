// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/router/acme"
	"github.com/reeve-run/reeve/internal/router/variables"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/acmeca"
	"github.com/reeve-run/reeve/internal/testbed/fakevars"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// An issued is a router that orders its certificates.
type issued struct {
	*running
	ca   *acmeca.Authority
	vars *fakevars.Store
}

const issuedHost = "shop.example.com"

func newIssued(t *testing.T, engine, kind string, validSeconds uint64) *issued {
	t.Helper()
	plain, secure := freeAddress(t), freeAddress(t)
	i := &issued{ca: acmeca.Start(t, portOf(plain), portOf(secure), validSeconds), vars: fakevars.New()}
	i.ca.Point(issuedHost, "127.0.0.1")
	r, err := New(Config{
		Engine: engine, HTTPAddr: plain, HTTPSAddr: secure, Logger: slog.New(slog.NewTextHandler(testLog{t}, nil)),
		Variables: func(namespace string) (variables.Client, error) { return i.vars.In(namespace), nil },
		ACME: &acme.Config{Domains: []string{issuedHost}, Agreed: true, Directory: i.ca.Directory, CA: i.ca.CAFile, Prefix: "acme",
			Namespace: "default", Challenges: []string{kind}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	i.running = &running{Router: r, t: t}
	return i
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := testbed.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func portOf(address string) int {
	_, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	return n
}

// served returns the serial number of the certificate for the host.
func (i *issued) served() (string, error) {
	nc, err := tls.Dial("tcp", i.SecureAddr(), &tls.Config{ServerName: issuedHost, InsecureSkipVerify: true})
	if err != nil {
		return "", err
	}
	defer nc.Close()
	leaf := nc.ConnectionState().PeerCertificates[0]
	return leaf.SerialNumber.String(), leaf.VerifyHostname(issuedHost)
}

func (i *issued) eventually(what string, try func() error) {
	i.t.Helper()
	ctx, cancel := context.WithTimeout(i.t.Context(), 4*deadline)
	defer cancel()
	var err error
	if !wait.Poll(ctx, 10*time.Millisecond, func() bool { err = try(); return err == nil }) {
		i.t.Fatalf("%s: %v; certificates %+v", what, err, *i.Status().Certificates[0])
	}
}

// TestACMEOrdersAndRenews orders by each type of challenge from a real authority, whose
// certificates are valid for seconds.
func TestACMEOrdersAndRenews(t *testing.T) {
	for _, c := range []struct{ engine, kind string }{{EngineFast, acme.HTTP01}, {EngineStandard, acme.TLSALPN01}} {
		t.Run(c.engine+" "+c.kind, func(t *testing.T) {
			i := newIssued(t, c.engine, c.kind, 9)
			first := ""
			i.eventually("the first certificate is served", func() (err error) {
				first, err = i.served()
				return err
			})
			kept, err := tls.Dial("tcp", i.SecureAddr(), &tls.Config{ServerName: issuedHost, InsecureSkipVerify: true})
			if err != nil {
				t.Fatal(err)
			}
			defer kept.Close()
			i.eventually("the next certificate is served", func() error {
				next, err := i.served()
				if err == nil && next == first {
					err = fmt.Errorf("%s is still served", first)
				}
				return err
			})
			fmt.Fprintf(kept, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", issuedHost)
			if text, err := io.ReadAll(kept); !strings.HasPrefix(string(text), "HTTP/1.1 404") {
				t.Errorf("the connection from before the renewal: %q, %v", text, err)
			}
		})
	}
}

// TestACMEHandshakesStartNoOrder floods the router with names.
func TestACMEHandshakesStartNoOrder(t *testing.T) {
	i := newIssued(t, EngineFast, acme.HTTP01, 3600)
	i.eventually("the first certificate is served", func() error {
		_, err := i.served()
		return err
	})
	orders, reads := i.ca.Orders(), i.vars.Gets()
	for n := range 300 {
		config := &tls.Config{ServerName: fmt.Sprintf("h%d.example.com", n), InsecureSkipVerify: true}
		switch n % 3 {
		case 1:
			config.NextProtos = []string{acme.TLSProtocol}
		case 2:
			config.NextProtos, config.ServerName = []string{acme.TLSProtocol}, issuedHost // no challenge is in progress
		}
		if nc, err := tls.Dial("tcp", i.SecureAddr(), config); err == nil {
			nc.Close()
			t.Fatalf("%q with %q: the handshake succeeded", config.ServerName, config.NextProtos)
		}
	}
	for n := range 300 {
		q, _ := http.NewRequest(http.MethodGet, fmt.Sprintf("http://%s%stoken-%d", i.Addr(), acme.ChallengePath, n), nil)
		q.Host = []string{issuedHost, "other.example.com"}[n%2]
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != http.StatusNotFound {
			t.Fatalf("an unknown token is answered with %s", a.Status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if got := i.ca.Orders(); got != orders {
		t.Errorf("%d orders, then %d", orders, got)
	}
	if got := i.vars.Gets(); got > reads+3 { // the follower's own
		t.Errorf("%d reads of variables, then %d", reads, got)
	}
}
