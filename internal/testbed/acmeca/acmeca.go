// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package acmeca runs a certificate authority that speaks ACME (pebble), and the name server that
// it asks, in the process of a test.
package acmeca

import (
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

// An Authority is a running authority.
type Authority struct {
	Directory string // URL
	CAFile    string // file with the root that verifies the URL

	mu        sync.Mutex
	addresses map[string]string // of domains
	orders    int
	hold      chan struct{} // closed when orders may continue; nil: they do
	held      chan struct{} // closed when the first order waits
}

// Start starts an authority that connects to two ports of a domain's address to validate it. Its
// certificates are valid for a number of seconds.
func Start(t testing.TB, httpPort, tlsPort int, validSeconds uint64) *Authority {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0") // a client repeats rejected requests, which would count as orders
	a := &Authority{addresses: map[string]string{}}
	resolver := a.serveNames(t)
	logger, store := log.New(io.Discard, "", 0), db.NewMemoryStore()
	issuer := ca.New(logger, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "the only one", ValidityPeriod: validSeconds}})
	validator := va.New(logger, httpPort, tlsPort, false, resolver, store)
	front := wfe.New(logger, store, validator, issuer, nil, false, false, 1, 1)
	handler := front.Handler()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/order-plz") {
			a.order(r)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	a.Directory = s.URL + wfe.DirectoryPath
	a.CAFile = filepath.Join(t.TempDir(), "directory.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(a.CAFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// order counts an order, and waits while orders are held.
func (a *Authority) order(r *http.Request) {
	a.mu.Lock()
	a.orders++
	hold := a.hold
	if hold != nil && a.held != nil {
		close(a.held)
		a.held = nil
	}
	a.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
}

// Orders returns the number of orders.
func (a *Authority) Orders() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.orders
}

// Hold makes orders wait until resume. The channel is closed when the first one waits.
func (a *Authority) Hold() (waits <-chan struct{}, resume func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hold, a.held = make(chan struct{}), make(chan struct{})
	waits, hold := a.held, a.hold
	return waits, sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		close(hold)
		a.hold = nil
	})
}

// Point sets the address of a domain; "" removes it.
func (a *Authority) Point(domain, address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.addresses[domain] = address
}

// serveNames starts the name server, and returns its address.
func (a *Authority) serveNames(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		name := strings.ToLower(strings.TrimSuffix(q.Question[0].Name, "."))
		a.mu.Lock()
		address := a.addresses[name]
		a.mu.Unlock()
		switch {
		case address == "":
			answer.Rcode = dns.RcodeNameError
		case q.Question[0].Qtype == dns.TypeA:
			answer.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.ParseIP(address)}}
		}
		w.WriteMsg(answer)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ActivateAndServe()
	}()
	t.Cleanup(func() {
		s.Shutdown()
		l.Close()
		<-done
	})
	return l.Addr().String()
}
