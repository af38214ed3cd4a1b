// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
)

func sortStrings(s []string) { slices.Sort(s) }

// shop is a fleet with something of everything.
func shop() *api.CatalogUpdate {
	route := entry("edge", 0)
	route.Endpoints = []*api.Endpoint{{Route: &api.Route{Port: "http"}, Address: "10.0.0.9:9000"}}
	return &api.CatalogUpdate{Complete: true, Entries: []*api.CatalogEntry{
		entry("shop", 0, "web+blue+v1.2@10.0.0.1:8080", "admin@10.0.0.1:9090"),
		entry("shop", 1, "web+green@10.0.0.2:8080"),
		entry("six", 0, "v6@[2001:db8::1]:53", "web.api@10.0.0.3:1"),
		entry("named", 0, "outside@db.example.com:5432"),
		route,
	}}
}

func TestAnswers(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(shop())
	for _, c := range []struct {
		name string
		kind uint16
		want string
	}{
		{"web.default.svc.reeve.", dns.TypeA, "NOERROR 10.0.0.1 10.0.0.2"},
		{"WEB.Default.SVC.Reeve.", dns.TypeA, "NOERROR 10.0.0.1 10.0.0.2"},
		{"web.default.svc.reeve.", dns.TypeAAAA, "NOERROR"},
		{"web.default.svc.reeve.", dns.TypeTXT, "NOERROR"},
		{"web.default.svc.reeve.", dns.TypeSRV, "NOERROR 0a000001.addr.reeve.:8080 0a000002.addr.reeve.:8080"},
		{"_web._tcp.default.svc.reeve.", dns.TypeSRV, "NOERROR 0a000001.addr.reeve.:8080 0a000002.addr.reeve.:8080"},
		{"_web._tcp.default.svc.reeve.", dns.TypeA, "NOERROR"},
		{"_none._tcp.default.svc.reeve.", dns.TypeSRV, "NXDOMAIN"},
		{"_tcp.default.svc.reeve.", dns.TypeSRV, "NOERROR"},
		{"blue.web.default.svc.reeve.", dns.TypeA, "NOERROR 10.0.0.1"},
		{"v1.2.web.default.svc.reeve.", dns.TypeA, "NOERROR 10.0.0.1"},
		{`v1\.2.web.default.svc.reeve.`, dns.TypeA, "NOERROR 10.0.0.1"},
		{`v1\0462.web.default.svc.reeve.`, dns.TypeA, "NOERROR 10.0.0.1"},
		{"2.web.default.svc.reeve.", dns.TypeA, "NOERROR"}, // v1.2 is below it
		{"red.web.default.svc.reeve.", dns.TypeA, "NXDOMAIN"},
		{"web.api.default.svc.reeve.", dns.TypeA, "NOERROR 10.0.0.3"},
		{"api.default.svc.reeve.", dns.TypeA, "NOERROR"}, // web.api is below it
		{"v6.default.svc.reeve.", dns.TypeAAAA, "NOERROR 2001:db8::1"},
		{"v6.default.svc.reeve.", dns.TypeA, "NOERROR"},
		{"outside.default.svc.reeve.", dns.TypeA, "NOERROR db.example.com."},
		{"outside.default.svc.reeve.", dns.TypeSRV, "NOERROR db.example.com.:5432"},
		{"none.default.svc.reeve.", dns.TypeA, "NXDOMAIN"},
		{"web.none.svc.reeve.", dns.TypeA, "NXDOMAIN"},
		{"default.svc.reeve.", dns.TypeA, "NOERROR"},
		{"svc.reeve.", dns.TypeA, "NOERROR"},
		{"0.web.shop.default.inst.reeve.", dns.TypeA, "NOERROR 10.0.0.1"},
		{"0.web.shop.default.inst.reeve.", dns.TypeSRV, "NOERROR 0a000001.addr.reeve.:8080 0a000001.addr.reeve.:9090"},
		{"0.web.edge.default.inst.reeve.", dns.TypeSRV, "NOERROR 0a000009.addr.reeve.:9000"},
		{"2.web.shop.default.inst.reeve.", dns.TypeA, "NXDOMAIN"},
		{"web.shop.default.inst.reeve.", dns.TypeA, "NOERROR"},
		{"default.inst.reeve.", dns.TypeA, "NOERROR"},
		{"other.inst.reeve.", dns.TypeA, "NXDOMAIN"},
		{"0a000001.addr.reeve.", dns.TypeA, "NOERROR 10.0.0.1"},
		{"20010db8000000000000000000000001.addr.reeve.", dns.TypeAAAA, "NOERROR 2001:db8::1"},
		{"0a0000.addr.reeve.", dns.TypeA, "NXDOMAIN"},
		{"x.stack.reeve.", dns.TypeA, "NXDOMAIN"},
		{"reeve.", dns.TypeNS, "NOERROR ns.dns.reeve."},
		{"reeve.", dns.TypeSOA, "NOERROR ns.dns.reeve. hostmaster.reeve. 2 3600 600 86400 0"},
		{"reeve.", dns.TypeA, "NOERROR"},
		{"ns.dns.reeve.", dns.TypeA, "NOERROR 127.0.0.1"},
		{"web.default.svc.reeve.", dns.TypeANY, `NOERROR "RFC8482" ""`},
		{"none.default.svc.reeve.", dns.TypeANY, "NXDOMAIN"},
		{"reeve.", dns.TypeAXFR, "REFUSED"},
		{"example.com.", dns.TypeA, "REFUSED"},
		{"notreeve.", dns.TypeA, "REFUSED"},
		{".", dns.TypeNS, "REFUSED"},
	} {
		for _, network := range []string{"udp", "tcp"} {
			m := h.askOver(network, c.name, c.kind, nil)
			if got := said(m); got != c.want {
				t.Errorf("%s %s over %s: %q, want %q", dns.TypeToString[c.kind], c.name, network, got, c.want)
			}
			ours := dns.IsSubDomain("reeve.", strings.ToLower(c.name))
			if refused := m.Rcode == dns.RcodeRefused; !refused && m.Authoritative != ours {
				t.Errorf("%s %s: authoritative is %v", dns.TypeToString[c.kind], c.name, m.Authoritative)
			}
			if hasSOA := len(m.Ns) == 1; !hasSOA && len(m.Answer) == 0 && m.Rcode != dns.RcodeRefused {
				t.Errorf("%s %s: nothing, and no SOA that says for how long", dns.TypeToString[c.kind], c.name)
			}
			if m.Question[0].Name != c.name && !strings.Contains(c.name, `\`) {
				t.Errorf("the question came back as %s, want %s as it was asked", m.Question[0].Name, c.name)
			}
		}
	}
}

func TestServerHasAddressesWithSRV(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(shop())
	m := h.ask("web.default.svc.reeve.", dns.TypeSRV)
	if len(m.Extra) != 2 {
		t.Fatalf("%d additional records, want the addresses of both: %v", len(m.Extra), m.Extra)
	}
	for _, rr := range m.Extra {
		if a := rr.(*dns.A); said(h.ask(a.Hdr.Name, dns.TypeA)) != "NOERROR "+a.A.String() {
			t.Errorf("%s is %s beside the records, and something else when asked for", a.Hdr.Name, a.A)
		}
	}
}

func TestChangesAreAnsweredAtOnce(t *testing.T) {
	h := newHarness(t, Config{})
	if got := said(h.ask("web.default.svc.reeve.", dns.TypeA)); got != "SERVFAIL" {
		t.Errorf("before anything is known: %q, want SERVFAIL", got)
	}
	h.send(shop())
	for _, step := range []struct {
		update *api.CatalogUpdate
		want   string
	}{
		{&api.CatalogUpdate{Removed: []string{"shop-0"}}, "NOERROR 10.0.0.2"},
		{&api.CatalogUpdate{Entries: []*api.CatalogEntry{entry("shop", 2, "web@10.0.0.7:1")}}, "NOERROR 10.0.0.2 10.0.0.7"},
		{&api.CatalogUpdate{Entries: []*api.CatalogEntry{entry("shop", 2, "web@10.0.0.8:1")}}, "NOERROR 10.0.0.2 10.0.0.8"},
		{&api.CatalogUpdate{Removed: []string{"shop-1", "shop-2", "unknown"}}, "NXDOMAIN"},
		{&api.CatalogUpdate{Complete: true, Entries: []*api.CatalogEntry{entry("shop", 5, "web@10.0.0.5:1")}}, "NOERROR 10.0.0.5"},
		{&api.CatalogUpdate{Complete: true}, "NXDOMAIN"},
	} {
		h.send(step.update)
		if got := said(h.ask("web.default.svc.reeve.", dns.TypeA)); got != step.want {
			t.Errorf("after %+v: %q, want %q", step.update, got, step.want)
		}
	}
	z := h.zone
	if n := len(z.entries) + len(z.services) + len(z.instances) + len(z.namespaces) + len(z.above); n != 0 {
		t.Errorf("%d things are left of an empty catalog", n)
	}
}

// crowd is a service of n instances, each on a node of its own.
func crowd(n int) *api.CatalogUpdate {
	u := &api.CatalogUpdate{Complete: true}
	for i := range n {
		u.Entries = append(u.Entries, entry("shop", i, fmt.Sprintf("web@10.1.%d.%d:80", i/250, i%250)))
	}
	return u
}

func TestLongAnswersGoOverTCP(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(crowd(300))
	m := h.ask("web.default.svc.reeve.", dns.TypeA)
	m.Compress = true // so that its length is that of the packet
	if !m.Truncated || m.Len() > 512 {
		t.Errorf("%d bytes, truncated %v; want at most 512, and truncated", m.Len(), m.Truncated)
	}
	edns := h.askOver("udp", "web.default.svc.reeve.", dns.TypeA, func(m *dns.Msg) { m.SetEdns0(4096, false) })
	edns.Compress = true
	if len(edns.Answer) <= len(m.Answer) || edns.Len() > udpSize || edns.IsEdns0() == nil {
		t.Errorf("with EDNS0: %d records in %d bytes, want more than %d in at most %d", len(edns.Answer), edns.Len(), len(m.Answer), udpSize)
	}
	if m := h.askOver("tcp", "web.default.svc.reeve.", dns.TypeA, nil); m.Truncated || len(m.Answer) != 300 {
		t.Errorf("over TCP: %d records, truncated %v; want all 300", len(m.Answer), m.Truncated)
	}
	bad := h.askOver("udp", "web.default.svc.reeve.", dns.TypeA, func(m *dns.Msg) { m.SetEdns0(4096, false).IsEdns0().SetVersion(1) })
	if bad.Rcode != dns.RcodeBadVers {
		t.Errorf("EDNS version 1: %s, want BADVERS", dns.RcodeToString[bad.Rcode])
	}
}

func TestAnswersGoAround(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(crowd(4))
	first := map[string]int{}
	for range 200 {
		first[h.ask("web.default.svc.reeve.", dns.TypeA).Answer[0].(*dns.A).A.String()]++
	}
	for ip, n := range first {
		if n < 20 {
			t.Errorf("%s was first only %d times of 200", ip, n)
		}
	}
	if len(first) != 4 {
		t.Errorf("%d of 4 instances were ever first", len(first))
	}
}

func TestTTLAndZone(t *testing.T) {
	h := newHarness(t, Config{Zone: "Apps.Example.com", TTL: 7e9})
	h.send(shop())
	m := h.ask("web.default.svc.apps.example.com.", dns.TypeA)
	if len(m.Answer) != 2 || m.Answer[0].Header().Ttl != 7 {
		t.Errorf("%v, want two addresses for 7 s", m.Answer)
	}
	if got := said(h.ask("web.default.svc.reeve.", dns.TypeA)); got != "REFUSED" {
		t.Errorf("another zone: %q", got)
	}
}

func TestOtherNamesArePassedOn(t *testing.T) {
	upstream := newHarness(t, Config{Zone: "example.com"})
	upstream.send(shop())
	h := newHarness(t, Config{Upstreams: []string{"127.0.0.1:1", upstream.Addr()}}) // the first one is dead
	h.send(shop())
	for _, network := range []string{"udp", "tcp"} {
		m := h.askOver(network, "web.default.svc.example.com.", dns.TypeA, nil)
		if got := said(m); got != "NOERROR 10.0.0.1 10.0.0.2" {
			t.Errorf("over %s: %q", network, got)
		}
	}
	if m := h.ask("web.default.svc.reeve.", dns.TypeA); !m.RecursionAvailable {
		t.Error("the server does not say that it passes questions on")
	}
	dead := newHarness(t, Config{Upstreams: []string{"127.0.0.1:1"}})
	if got := said(dead.ask("example.com.", dns.TypeA)); got != "SERVFAIL" {
		t.Errorf("no upstream answers: %q, want SERVFAIL", got)
	}
}

func TestGoResolverUsesIt(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(shop())
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, h.Addr())
	}}
	ips, err := r.LookupHost(t.Context(), "web.default.svc.reeve.")
	if err != nil || len(ips) != 2 {
		t.Errorf("hosts %v, %v", ips, err)
	}
	_, srv, err := r.LookupSRV(t.Context(), "web", "tcp", "default.svc.reeve.")
	if err != nil || len(srv) != 2 || srv[0].Port != 8080 {
		t.Errorf("services %v, %v", srv, err)
	}
	var none *net.DNSError
	if _, err := r.LookupHost(t.Context(), "none.default.svc.reeve."); !errors.As(err, &none) || !none.IsNotFound {
		t.Errorf("a name that does not exist: %v", err)
	}
}

func TestTakenAddress(t *testing.T) {
	h := newHarness(t, Config{})
	_, err := Listen(Config{Address: h.Addr()})
	var taken *TakenError
	if !errors.As(err, &taken) || !strings.Contains(err.Error(), "already in use") || !strings.Contains(err.Error(), h.Addr()) {
		t.Errorf("a second server on %s: %v", h.Addr(), err)
	}
}
