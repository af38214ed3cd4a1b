// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mholt/acmez/v3"
	protocol "github.com/mholt/acmez/v3/acme"

	"github.com/reeve-run/reeve/internal/router/certs"
)

// An Issuer keeps certificates for domains. Its methods may be called concurrently.
type Issuer struct {
	config    Config
	authority authority
	orders    chan struct{} // holds one element per order in progress

	answers atomic.Pointer[map[string]challenge] // by domain

	mu       sync.Mutex // guards the fields below
	ctx      context.Context
	domains  map[string]*domain
	excess   *certs.Feed // announces hosts above MaxDomains
	followed sync.WaitGroup
}

// maxOrders bounds the orders of a router at a time.
const maxOrders = 4

// New returns an issuer that does nothing before Run.
func New(c Config) (*Issuer, error) {
	i := &Issuer{config: c, orders: make(chan struct{}, maxOrders), domains: map[string]*domain{}}
	i.answers.Store(&map[string]challenge{})
	var err error
	i.authority, err = newRemote(&i.config)
	return i, err
}

// Run keeps certificates until the context ends.
func (i *Issuer) Run(ctx context.Context) {
	i.mu.Lock()
	i.ctx = ctx
	i.mu.Unlock()
	i.SetHosts(nil)
	<-ctx.Done()
	i.followed.Wait()
}

// SetHosts replaces the hosts of routes. Those that fit a pattern get a certificate; others lose
// it. Hosts above MaxDomains get none.
func (i *Issuer) SetHosts(hosts []string) {
	wanted := map[string]bool{}
	for _, d := range i.config.Domains {
		wanted[d] = true
	}
	ignored := 0
	for _, h := range slices.Sorted(slices.Values(hosts)) {
		if wanted[h] || CheckDomain(h) != nil || !slices.ContainsFunc(i.config.RouteHosts, func(p string) bool { return matches(p, h) }) {
			continue
		}
		if len(wanted) == MaxDomains {
			ignored++
			continue
		}
		wanted[h] = true
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ctx == nil || i.ctx.Err() != nil {
		return
	}
	for name, d := range i.domains {
		if !wanted[name] {
			d.stop()
			delete(i.domains, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if i.domains[name] == nil {
			i.domains[name] = i.follow(name)
		}
	}
	i.announce(ignored)
}

// announce reports the number of hosts without a certificate because of MaxDomains. The caller
// holds the lock.
func (i *Issuer) announce(ignored int) {
	if i.excess == nil && ignored > 0 {
		i.excess = i.config.Store.Feed(certs.Source{Variable: i.config.authorityPath(), Namespace: i.config.Namespace})
	}
	if i.excess == nil {
		return
	}
	var err error
	if ignored > 0 {
		err = fmt.Errorf("%d hosts of routes get no certificate, because a router orders for at most %d domains: narrow route_hosts", ignored, MaxDomains)
	}
	i.excess.Offer("", "", "", err)
	if err == nil {
		i.excess.Remove()
		i.excess = nil
	}
}

// follow begins to keep the certificate of a domain. The caller holds the lock.
func (i *Issuer) follow(name string) *domain {
	ctx, cancel := context.WithCancel(i.ctx)
	path := i.config.pathOf(name)
	d := &domain{
		issuer: i, name: name, path: path, changed: make(chan struct{}, 1),
		feed: i.config.Store.Feed(certs.Source{Variable: path, Namespace: i.config.Namespace, Renewal: "the routers renew it by ACME; see their logs"}),
	}
	var loops sync.WaitGroup
	loops.Go(func() { d.watch(ctx) })
	loops.Go(func() { d.keep(ctx) })
	d.stop = sync.OnceFunc(func() {
		cancel()
		d.feed.Remove()
	})
	i.followed.Go(func() {
		loops.Wait()
		i.answer(name, challenge{})
	})
	return d
}

// answer sets the challenge of a domain; an empty one removes it.
func (i *Issuer) answer(name string, c challenge) {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := *i.answers.Load()
	if before[name] == c {
		return
	}
	next := maps.Clone(before)
	if next[name] = c; c == (challenge{}) {
		delete(next, name)
	}
	i.answers.Store(&next)
}

// HTTPAnswer returns the answer to a challenge by HTTP for a host; "" without one.
func (i *Issuer) HTTPAnswer(host, token string) string {
	c := (*i.answers.Load())[host]
	if c.kind != HTTP01 || c.token == "" || c.token != token {
		return ""
	}
	return c.answer
}

// TLSAnswer returns the certificate that answers a challenge by TLS, and nil for all other
// handshakes.
func (i *Issuer) TLSAnswer(hello *tls.ClientHelloInfo) *tls.Certificate {
	if len(hello.SupportedProtos) != 1 || hello.SupportedProtos[0] != acmez.ACMETLS1Protocol {
		return nil
	}
	name := certs.NameOf(hello)
	c := (*i.answers.Load())[name]
	if c.kind != TLSALPN01 || c.answer == "" {
		return nil
	}
	cert, err := acmez.TLSALPN01ChallengeCert(protocol.Challenge{Type: c.kind, Identifier: protocol.Identifier{Type: "dns", Value: name}, KeyAuthorization: c.answer})
	if err != nil {
		return nil
	}
	return cert
}

// TLSProtocol is the application protocol of challenges by TLS.
const TLSProtocol = acmez.ACMETLS1Protocol

// ChallengePath is the beginning of the paths of challenges by HTTP.
const ChallengePath = "/.well-known/acme-challenge/"
