// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
)

// BenchmarkRespond is the work of one question, sockets apart, among 100,000
// instances of 1,000 services.
func BenchmarkRespond(b *testing.B) {
	s := &Server{zone: newZone(), zoneName: "reeve.", log: Config{}.logger()}
	u := &api.CatalogUpdate{Complete: true}
	for i := range 100_000 {
		u.Entries = append(u.Entries, entry("shop", i, fmt.Sprintf("web-%d@10.%d.%d.%d:80", i/100, i>>16, i>>8&255, i&255)))
	}
	s.zone.update(u)
	for _, kind := range []uint16{dns.TypeA, dns.TypeSRV} {
		b.Run(dns.TypeToString[kind], func(b *testing.B) {
			r := new(dns.Msg)
			r.SetQuestion("web-500.default.svc.reeve.", kind)
			b.ReportAllocs()
			for b.Loop() {
				if m := s.respond(b.Context(), r, "udp"); len(m.Answer) == 0 {
					b.Fatal(m)
				}
			}
		})
	}
}

// BenchmarkRespondForStack measures one question for stacks among 2,000 units, sockets apart.
func BenchmarkRespondForStack(b *testing.B) {
	s := &Server{zone: newZone(), zoneName: "reeve.", log: Config{}.logger()}
	u := &api.CatalogUpdate{Complete: true}
	for i := range 2000 {
		for minor := range 5 {
			name := fmt.Sprintf("unit-%d--1-%d-0--aaaaaaaa", i, minor)
			u.Stacks = append(u.Stacks, &api.StackShare{Namespace: "dev", Stack: name, Status: api.StackReady, Target: minor == 4})
			u.Entries = append(u.Entries, stackEntry("dev", name, i, fmt.Sprintf("10.%d.%d.%d:80", minor, i>>8, i&255)))
		}
	}
	s.zone.update(u)
	for _, kind := range []uint16{dns.TypeA, dns.TypeSRV} {
		b.Run(dns.TypeToString[kind], func(b *testing.B) {
			r := new(dns.Msg)
			r.SetQuestion("1-2.unit-500.sandbox.dev.stack.reeve.", kind)
			b.ReportAllocs()
			for b.Loop() {
				if m := s.respond(b.Context(), r, "udp"); len(m.Answer) == 0 {
					b.Fatal(m)
				}
			}
		})
	}
}

// BenchmarkQuery is questions and answers over UDP on loopback, with asker and
// server in one process.
func BenchmarkQuery(b *testing.B) {
	h := newHarness(b, Config{})
	h.send(crowd(3))
	b.SetParallelism(8)
	b.RunParallel(func(p *testing.PB) {
		c := new(dns.Client)
		conn, err := c.Dial(h.Addr())
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		r := new(dns.Msg)
		r.SetQuestion("web.default.svc.reeve.", dns.TypeA)
		for p.Next() {
			if _, _, err := c.ExchangeWithConn(r, conn); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "queries/s")
}
