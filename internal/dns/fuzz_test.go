// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"testing"

	"github.com/miekg/dns"
)

// FuzzRespond gives the query path any packet: it must answer with a packet that
// can be read and fits, and with what was asked.
func FuzzRespond(f *testing.F) {
	s := &Server{zone: newZone(), zoneName: "reeve.", log: Config{}.logger(), forwarding: make(chan struct{}, 1)}
	s.zone.update(shop())
	s.zone.update(inventory(0.3))
	for _, name := range []string{"web.default.svc.reeve.", `v1\.2.web.default.svc.reeve.`, "0.web.shop.default.inst.reeve.", "0a000001.addr.reeve.", "reeve.", ".", "_web._tcp.default.svc.reeve.", "1-1.inventory.sandbox.dev.stack.reeve.", "_inventory._tcp.1.dev.stack.reeve.", "canary.inventory.dev.stack.reeve."} {
		for _, kind := range []uint16{dns.TypeA, dns.TypeSRV, dns.TypeANY, dns.TypeSOA} {
			m := new(dns.Msg)
			m.SetQuestion(name, kind)
			m.SetEdns0(1232, true)
			packet, err := m.Pack()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(packet, false)
			f.Add(packet, true)
		}
	}
	f.Fuzz(func(t *testing.T, packet []byte, tcp bool) {
		r := new(dns.Msg)
		if r.Unpack(packet) != nil || len(r.Question) != 1 || r.Response {
			return
		}
		network := "udp"
		if tcp {
			network = "tcp"
		}
		m := s.respond(t.Context(), r, network)
		answer, err := m.Pack()
		if err != nil {
			t.Fatalf("the answer to %v cannot be written: %v", r, err)
		}
		if size := sizeFor(r, network); len(answer) > size {
			t.Errorf("%d bytes, more than %d", len(answer), size)
		}
		read := new(dns.Msg)
		if err := read.Unpack(answer); err != nil {
			t.Fatalf("the answer to %v cannot be read: %v", r, err)
		}
		if read.Id != r.Id || !read.Response {
			t.Errorf("the answer is not one to what was asked: %v", read)
		}
	})
}
