// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"testing"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
)

// entryIn is an entry of a job in a namespace.
func entryIn(namespace, job string, services ...string) *api.CatalogEntry {
	e := entry(job, 0, services...)
	e.AllocID, e.Namespace = namespace+" "+e.AllocID, namespace
	for _, r := range e.Services {
		r.ID, r.AllocID, r.Namespace = namespace+" "+r.ID, e.AllocID, namespace
	}
	return e
}

// Jobs and services of one name in several namespaces never share an answer, not even
// where the names read alike.
func TestNamespacesDoNotShareNames(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(&api.CatalogUpdate{Complete: true, Entries: []*api.CatalogEntry{
		entryIn("dev", "shop", "web@10.0.0.1:80"),
		entryIn("dev/sandbox", "shop", "web@10.0.0.2:80"),
		entryIn("prod", "shop", "web@10.0.0.3:80"),
		entryIn("dev", "shop.sandbox", "web.sandbox@10.0.0.4:80", "sandbox+web+blue@10.0.0.5:80"),
		entryIn("ops/db", "only", "pg@10.0.0.6:5432"),
	}})
	for _, c := range []struct {
		name string
		kind uint16
		want string
	}{
		{"web.dev.svc.reeve.", dns.TypeA, "NOERROR 10.0.0.1"},
		{"web.sandbox.dev.svc.reeve.", dns.TypeA, "NOERROR 10.0.0.2"},
		{"_web._tcp.Sandbox.Dev.svc.reeve.", dns.TypeSRV, "NOERROR 0a000002.addr.reeve.:80"},
		{"web.prod.svc.reeve.", dns.TypeA, "NOERROR 10.0.0.3"},
		{"sandbox.dev.svc.reeve.", dns.TypeA, "NOERROR 10.0.0.5"},
		{"blue.sandbox.dev.svc.reeve.", dns.TypeA, "NOERROR 10.0.0.5"},
		{"web.default.svc.reeve.", dns.TypeA, "NXDOMAIN"},
		{"web.sandbox.prod.svc.reeve.", dns.TypeA, "NXDOMAIN"},
		{"0.web.shop.dev.inst.reeve.", dns.TypeA, "NOERROR 10.0.0.1"},
		{"0.web.shop.sandbox.dev.inst.reeve.", dns.TypeA, "NOERROR 10.0.0.2"},
		{"pg.db.ops.svc.reeve.", dns.TypeA, "NOERROR 10.0.0.6"},
		{"db.ops.svc.reeve.", dns.TypeA, "NOERROR"},
		{"ops.svc.reeve.", dns.TypeA, "NOERROR"}, // db.ops is below it
		{"pg.ops.svc.reeve.", dns.TypeA, "NXDOMAIN"},
	} {
		if got := said(h.ask(c.name, c.kind)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	// Without the nested namespace, its names mean the others.
	h.send(&api.CatalogUpdate{Removed: []string{"dev/sandbox shop-0"}})
	for name, want := range map[string]string{
		"web.sandbox.dev.svc.reeve.":         "NOERROR 10.0.0.4",
		"0.web.shop.sandbox.dev.inst.reeve.": "NOERROR 10.0.0.4 10.0.0.5",
		"web.dev.svc.reeve.":                 "NOERROR 10.0.0.1",
	} {
		if got := said(h.ask(name, dns.TypeA)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
