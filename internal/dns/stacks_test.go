// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
)

// stackEntry is an instance of a stack with an address for callers.
func stackEntry(namespace, stack string, index int, address string) *api.CatalogEntry {
	e := entry(stack, index)
	e.AllocID, e.Namespace, e.StackAddress = namespace+" "+e.AllocID, namespace, address
	return e
}

// share describes a ready stack of a unit, such as "dev inventory--1-0-0".
func share(text string, of float64, change ...func(*api.StackShare)) *api.StackShare {
	words := strings.Fields(text)
	s := &api.StackShare{Namespace: words[0], Stack: words[1] + "--aaaaaaaa", Status: api.StackReady, Share: of}
	for _, c := range change {
		c(s)
	}
	return s
}

func shareTarget(s *api.StackShare) { s.Target = true }

func shareStatus(status string) func(*api.StackShare) {
	return func(s *api.StackShare) { s.Status = status }
}

func shareTags(tags ...string) func(*api.StackShare) {
	return func(s *api.StackShare) { s.Tags = tags }
}

func shareEnd(end string) func(*api.StackShare) { return func(s *api.StackShare) { s.ShiftEnd = end } }

// inventory is a unit in dev: 1.0.0 shifts to 1.1.0, which has a share; 1.2.0 warms up, 2.0.0 has no
// instance, 3.0.0 has an IPv6 address, and dev/sandbox has a unit of its own.
func inventory(to float64) *api.CatalogUpdate {
	return &api.CatalogUpdate{
		Complete: true,
		Stacks: []*api.StackShare{
			share("dev inventory--1-0-0", 1-to, shareTarget, shareEnd(api.ShiftEndFrom)),
			share("dev inventory--1-1-0", to, shareEnd(api.ShiftEndTo), shareTags("canary")),
			share("dev inventory--1-2-0", 0, shareStatus(api.StackWarming)),
			share("dev inventory--2-0-0", 1, shareTarget),
			share("dev inventory--3-0-0", 1, shareTarget),
			share("dev/sandbox search--1-0-0", 1, shareTarget),
			share("dev search--1-4-0", 1, shareTarget),
			share("dev search--2-0-0", 1, shareTarget),
		},
		Entries: []*api.CatalogEntry{
			stackEntry("dev", "inventory--1-0-0--aaaaaaaa", 0, "10.0.0.1:8001"),
			stackEntry("dev", "inventory--1-0-0--aaaaaaaa", 1, "10.0.0.2:8002"),
			stackEntry("dev", "inventory--1-1-0--aaaaaaaa", 0, "10.0.1.1:8003"),
			stackEntry("dev", "inventory--1-2-0--aaaaaaaa", 0, "10.0.2.1:8004"),
			stackEntry("dev", "inventory--3-0-0--aaaaaaaa", 0, "[2001:db8::3]:8005"),
			stackEntry("dev/sandbox", "search--1-0-0--aaaaaaaa", 0, "10.0.3.1:8006"),
			stackEntry("dev", "search--1-4-0--aaaaaaaa", 0, "10.0.3.2:8007"),
			stackEntry("dev", "search--2-0-0--aaaaaaaa", 0, "10.0.3.3:8008"),
			entry("plain", 0, "web@10.0.9.9:80"),
		},
	}
}

func TestNamesOfStacks(t *testing.T) {
	h := newHarness(t, Config{TTL: 5 * time.Second})
	h.send(inventory(0))
	for _, c := range []struct {
		name string
		kind uint16
		want string
	}{
		{"1.inventory.dev", dns.TypeA, "NOERROR 10.0.0.1 10.0.0.2"},
		{"1-0.inventory.dev", dns.TypeA, "NOERROR 10.0.0.1 10.0.0.2"},
		{"1-1.inventory.dev", dns.TypeA, "NOERROR 10.0.1.1"}, // only 1.1.0 satisfies it
		{"1-1.Inventory.DEV", dns.TypeA, "NOERROR 10.0.1.1"},
		{"1-2.inventory.dev", dns.TypeA, "NXDOMAIN"}, // 1.2.0 is not ready
		{"1-2-0.inventory.dev", dns.TypeA, "NOERROR 10.0.2.1"},
		{"1-0-0.inventory.dev", dns.TypeA, "NOERROR 10.0.0.1 10.0.0.2"},
		{"1-0-1.inventory.dev", dns.TypeA, "NXDOMAIN"},
		{"canary.inventory.dev", dns.TypeA, "NOERROR 10.0.1.1"},
		{"blue.inventory.dev", dns.TypeA, "NXDOMAIN"},
		{"2.inventory.dev", dns.TypeA, "NOERROR"},
		{"3.inventory.dev", dns.TypeA, "NOERROR"},
		{"3.inventory.dev", dns.TypeAAAA, "NOERROR 2001:db8::3"},
		{"4.inventory.dev", dns.TypeA, "NXDOMAIN"},
		{"1.inventory.prod", dns.TypeA, "NXDOMAIN"},
		{"1.cart.dev", dns.TypeA, "NXDOMAIN"},
		{"1.plain.default", dns.TypeA, "NXDOMAIN"},
		{"01.inventory.dev", dns.TypeA, "NXDOMAIN"},
		{"1-.inventory.dev", dns.TypeA, "NXDOMAIN"},
		{"*.inventory.dev", dns.TypeA, "NXDOMAIN"},
		{`1\.inventory.dev`, dns.TypeA, "NXDOMAIN"}, // one label with a dot
		{`1.inventory\.dev.dev`, dns.TypeA, "NXDOMAIN"},

		{"1.inventory.sandbox.dev", dns.TypeA, "NOERROR 10.0.0.1 10.0.0.2"},
		{"1.inventory.alice.sandbox.dev", dns.TypeA, "NOERROR 10.0.0.1 10.0.0.2"},
		{"1.search.dev", dns.TypeA, "NOERROR 10.0.3.2"},
		{"1.search.sandbox.dev", dns.TypeA, "NOERROR 10.0.3.1"},
		{"1-1.search.sandbox.dev", dns.TypeA, "NXDOMAIN"}, // the nearest 1.x decides
		{"2.search.sandbox.dev", dns.TypeA, "NOERROR 10.0.3.3"},
		{"1-4-0.search.sandbox.dev", dns.TypeA, "NOERROR 10.0.3.2"},

		{"1.inventory.dev", dns.TypeSRV, "NOERROR 0a000001.addr.reeve.:8001 0a000002.addr.reeve.:8002"},
		{"_inventory._tcp.1-1.dev", dns.TypeSRV, "NOERROR 0a000101.addr.reeve.:8003"},
		{"_inventory._tcp.canary.sandbox.dev", dns.TypeSRV, "NOERROR 0a000101.addr.reeve.:8003"},
		{"_inventory._tcp.1-1.dev", dns.TypeA, "NOERROR"},
		{"_cart._tcp.1.dev", dns.TypeSRV, "NXDOMAIN"},
		{"_inventory._udp.1.dev", dns.TypeSRV, "NXDOMAIN"},
		{"1.inventory.dev", dns.TypeTXT, "NOERROR"},
		{"1.inventory.dev", dns.TypeANY, `NOERROR "RFC8482" ""`},

		{"inventory.dev", dns.TypeA, "NOERROR"}, // names below these exist
		{"_tcp.1.dev", dns.TypeA, "NOERROR"},
		{"dev", dns.TypeA, "NOERROR"},
		{"sandbox.dev", dns.TypeA, "NOERROR"},
		{"", dns.TypeA, "NOERROR"},
		{"prod", dns.TypeA, "NXDOMAIN"},
		{"cart.prod", dns.TypeA, "NXDOMAIN"},
	} {
		name := strings.TrimPrefix(c.name+".stack.reeve.", ".")
		m := h.ask(name, c.kind)
		if got := said(m); got != c.want {
			t.Errorf("%s %s: %q, want %q", dns.TypeToString[c.kind], name, got, c.want)
		}
		for _, rr := range append(append(m.Answer, m.Ns...), m.Extra...) {
			if rr.Header().Ttl != 0 {
				t.Errorf("%s: %s may be cached", name, rr)
			}
		}
	}
	if ttl := h.ask("web.default.svc.reeve.", dns.TypeA).Answer[0].Header().Ttl; ttl != 5 {
		t.Errorf("the TTL of a service is %d, want the configured 5", ttl)
	}
}

// answersOf counts how often an answer of addresses is that of the newer stack.
func (h *harness) answersOf(newer string, questions int) float64 {
	h.t.Helper()
	count := 0
	for range questions {
		r := new(dns.Msg)
		r.SetQuestion("1.inventory.dev.stack.reeve.", dns.TypeA)
		switch got := said(h.respond(h.t.Context(), r, "udp")); got {
		case "NOERROR " + newer:
			count++
		case "NOERROR 10.0.0.1 10.0.0.2":
		default:
			h.t.Fatalf("one answer holds %q, want the addresses of one stack", got)
		}
	}
	return float64(count) / float64(questions)
}

func TestAnswersAreDividedByShare(t *testing.T) {
	h := newHarness(t, Config{})
	const questions = 20_000
	for _, share := range []float64{0, 0.25, 0.5, 1} {
		h.send(inventory(share))
		if got := h.answersOf("10.0.1.1", questions); math.Abs(got-share) > 5*math.Sqrt(share*(1-share)/questions) {
			t.Errorf("share %v: the stack got %v of %d answers", share, got, questions)
		}
	}
}

func TestAStackWithoutInstancesGivesItsAnswersToTheOther(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(inventory(0.25))
	h.send(&api.CatalogUpdate{Removed: []string{"dev inventory--1-1-0--aaaaaaaa-0"}})
	if got := h.answersOf("10.0.1.1", 200); got != 0 {
		t.Errorf("a stack without instances got %v of the answers", got)
	}
	if got := weights(h.ask("1.inventory.dev.stack.reeve.", dns.TypeSRV)); got != "8001:500 8002:500" {
		t.Errorf("weights %s, want all for the other stack", got)
	}
	h.send(&api.CatalogUpdate{Removed: []string{"dev inventory--1-0-0--aaaaaaaa-0", "dev inventory--1-0-0--aaaaaaaa-1"}})
	if got := said(h.ask("1.inventory.dev.stack.reeve.", dns.TypeA)); got != "NOERROR" {
		t.Errorf("without any instance: %q, want an empty answer", got)
	}
}

func weights(m *dns.Msg) string {
	var words []string
	for _, rr := range m.Answer {
		if srv, ok := rr.(*dns.SRV); ok {
			words = append(words, fmt.Sprintf("%d:%d", srv.Port, srv.Weight))
		}
	}
	sortStrings(words)
	return strings.Join(words, " ")
}

func TestWeightsOfSRVRecordsAreShares(t *testing.T) {
	h := newHarness(t, Config{})
	for share, want := range map[float64]string{
		0.25: "8001:375 8002:375 8003:250", 0.0001: "8001:500 8002:500 8003:1", 0: "8001:500 8002:500", 1: "8003:1000",
	} {
		h.send(inventory(share))
		if got := weights(h.ask("_inventory._tcp.1.dev.stack.reeve.", dns.TypeSRV)); got != want {
			t.Errorf("share %v: port:weight %s, want %s", share, got, want)
		}
	}
}

func TestNamesFollowTheStacks(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(inventory(0))
	exists := func(name, want string) {
		t.Helper()
		if got := said(h.ask(name+".stack.reeve.", dns.TypeA)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	h.send(&api.CatalogUpdate{Stacks: []*api.StackShare{share("dev inventory--1-2-0", 0), share("dev inventory--1-1-0", 0, shareStatus(api.StackGarbage))}})
	exists("1-2.inventory.dev", "NOERROR 10.0.2.1")
	exists("1-1.inventory.dev", "NOERROR 10.0.2.1")
	exists("1-1-0.inventory.dev", "NOERROR 10.0.1.1")
	exists("canary.inventory.dev", "NXDOMAIN")
	h.send(&api.CatalogUpdate{Stacks: []*api.StackShare{{Namespace: "dev", Stack: "inventory--1-1-0--aaaaaaaa", Removed: true}}})
	exists("1-1-0.inventory.dev", "NXDOMAIN")
	h.send(&api.CatalogUpdate{Stacks: []*api.StackShare{{Namespace: "dev/sandbox", Stack: "search--1-0-0--aaaaaaaa", Removed: true}}})
	exists("1.search.sandbox.dev", "NOERROR 10.0.3.2")
	h.send(&api.CatalogUpdate{Complete: true})
	exists("1.inventory.dev", "NXDOMAIN")
	exists("dev", "NXDOMAIN")
}

// Namespaces may differ in capital letters alone, and DNS does not distinguish these.
func TestTheNamespaceWithoutCapitalLettersHasTheName(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(&api.CatalogUpdate{
		Complete: true,
		Stacks:   []*api.StackShare{share("DEV cart--1-0-0", 1, shareTarget), share("dev cart--1-0-0", 1, shareTarget)},
		Entries: []*api.CatalogEntry{
			stackEntry("DEV", "cart--1-0-0--aaaaaaaa", 0, "10.0.0.1:80"), stackEntry("dev", "cart--1-0-0--aaaaaaaa", 0, "10.0.0.2:80"),
		},
	})
	if got := said(h.ask("1.cart.dev.stack.reeve.", dns.TypeA)); got != "NOERROR 10.0.0.2" {
		t.Errorf("%q, want the address of namespace dev", got)
	}
	h.send(&api.CatalogUpdate{Stacks: []*api.StackShare{{Namespace: "dev", Stack: "cart--1-0-0--aaaaaaaa", Removed: true}}})
	if got := said(h.ask("1.cart.DEV.stack.reeve.", dns.TypeA)); got != "NOERROR 10.0.0.1" {
		t.Errorf("%q, want the address of namespace DEV, which is alone now", got)
	}
}

// A server is another program than this one: what it sends must not stop name service.
func TestMalformedStacksAreIgnored(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(&api.CatalogUpdate{
		Complete: true,
		Stacks: []*api.StackShare{
			nil, {}, {Namespace: "dev", Stack: "no stack"}, share("dev inventory--1-0-0", math.MaxFloat64, shareTarget, shareEnd(api.ShiftEndTo)),
			share("dev inventory--1-1-0", -1, shareEnd(api.ShiftEndTo)), share("dev cart--1-0-0", -3, shareTarget, shareEnd("middle")),
		},
		Entries: []*api.CatalogEntry{
			stackEntry("dev", "inventory--1-0-0--aaaaaaaa", 0, "nowhere"), stackEntry("dev", "inventory--1-0-0--aaaaaaaa", 1, "10.0.0.1:99999999"),
			stackEntry("dev", "cart--1-0-0--aaaaaaaa", 0, "10.0.0.7:80"),
		},
	})
	for name, want := range map[string]string{"1.inventory.dev": "NOERROR", "1.cart.dev": "NOERROR 10.0.0.7"} {
		if got := said(h.ask(name+".stack.reeve.", dns.TypeA)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
