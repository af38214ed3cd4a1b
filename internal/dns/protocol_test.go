// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
)

// A service may have instances with addresses of both kinds; each question gets
// its own, and SRV all, with an address of the right kind beside each.
func TestAddressesOfBothKinds(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(&api.CatalogUpdate{Complete: true, Entries: []*api.CatalogEntry{
		entry("shop", 0, "web@10.0.0.1:8080"),
		entry("shop", 1, "web@[2001:db8::1]:8081"),
		entry("shop", 2, "web@[2001:db8::1]:8082"), // another port of the same machine
		entry("shop", 3, "web@[::ffff:10.0.0.4]:80"),
	}})
	const six = "20010db8000000000000000000000001.addr.reeve."
	for kind, want := range map[uint16]string{
		dns.TypeA:    "NOERROR 10.0.0.1 10.0.0.4",
		dns.TypeAAAA: "NOERROR 2001:db8::1",
		dns.TypeSRV:  "NOERROR 0a000001.addr.reeve.:8080 0a000004.addr.reeve.:80 " + six + ":8081 " + six + ":8082",
	} {
		if got := said(h.ask("web.default.svc.reeve.", kind)); got != want {
			t.Errorf("%s: %q, want %q", dns.TypeToString[kind], got, want)
		}
	}
	m := h.ask("web.default.svc.reeve.", dns.TypeSRV)
	seen := map[string]int{}
	for _, rr := range m.Extra {
		switch rr := rr.(type) {
		case *dns.A:
			seen[rr.Hdr.Name+" "+rr.A.String()]++
		case *dns.AAAA:
			seen[rr.Hdr.Name+" "+rr.AAAA.String()]++
		}
	}
	if len(seen) != 3 || seen[six+" 2001:db8::1"] != 1 {
		t.Errorf("beside the records: %v, want the three addresses, each once", seen)
	}
	for kind, want := range map[uint16]string{dns.TypeA: "NOERROR", dns.TypeAAAA: "NOERROR 2001:db8::1"} {
		if got := said(h.ask(six, kind)); got != want {
			t.Errorf("%s of its own name: %q, want %q", dns.TypeToString[kind], got, want)
		}
	}
}

// A long list of SRV records is cut at a whole record, and none of it lacks over
// TCP; what an asker says of its room is believed between bounds.
func TestLongListsOfPorts(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(crowd(200))
	for room, most := range map[uint16]int{0: 512, 100: 512, 900: 900, 65535: udpSize} {
		m := h.askOver("udp", "web.default.svc.reeve.", dns.TypeSRV, func(m *dns.Msg) {
			if room > 0 {
				m.SetEdns0(room, false)
			}
		})
		m.Compress = true
		if !m.Truncated || m.Len() > most || len(m.Answer) == 0 {
			t.Errorf("with room for %d: %d records in %d bytes, truncated %v; want some in at most %d", room, len(m.Answer), m.Len(), m.Truncated, most)
		}
	}
	if m := h.askOver("tcp", "web.default.svc.reeve.", dns.TypeSRV, nil); m.Truncated || len(m.Answer) != 200 || len(m.Extra) != 200 {
		t.Errorf("over TCP: %d records with %d addresses, truncated %v; want 200", len(m.Answer), len(m.Extra), m.Truncated)
	}
}

// Askers that mix the case of a name, to tell answers from forgeries, get it back
// as it was, in the question and in every record.
func TestTheCaseOfANameComesBack(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(shop())
	const name = "wEb.dEFAULT.svc.ReevE."
	m := h.ask(name, dns.TypeA)
	if m.Question[0].Name != name || len(m.Answer) != 2 {
		t.Fatalf("%v", m)
	}
	for _, rr := range m.Answer {
		if rr.Header().Name != name {
			t.Errorf("the answer is for %s", rr.Header().Name)
		}
	}
}

func TestWhatIsNoPlainQuestion(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(shop())
	const name = "web.default.svc.reeve."
	for what, c := range map[string]struct {
		change func(*dns.Msg)
		want   int
	}{
		"another class": {func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }, dns.RcodeRefused},
		"an update":     {func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate }, dns.RcodeNotImplemented},
		"two questions": {func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }, dns.RcodeFormatError},
	} {
		for _, network := range []string{"udp", "tcp"} {
			if m := h.askOver(network, name, dns.TypeA, c.change); m.Rcode != c.want || len(m.Answer) != 0 {
				t.Errorf("%s over %s: %s, want %s", what, network, dns.RcodeToString[m.Rcode], dns.RcodeToString[c.want])
			}
		}
	}

	// An answer to an answer would be the first of many, and garbage is nobody's
	// question: what comes next is answered, and that alone.
	nc, err := net.Dial("udp", h.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(15 * time.Second))
	reflected, question := new(dns.Msg), new(dns.Msg)
	reflected.SetQuestion(name, dns.TypeA)
	reflected.Response = true
	question.SetQuestion(name, dns.TypeA)
	for _, packet := range [][]byte{packed(t, reflected), []byte("garbage"), packed(t, question)} {
		if _, err := nc.Write(packet); err != nil {
			t.Fatal(err)
		}
	}
	room := make([]byte, 4096)
	n, err := nc.Read(room)
	if err != nil {
		t.Fatal(err)
	}
	first := new(dns.Msg)
	if err := first.Unpack(room[:n]); err != nil || first.Id != question.Id {
		t.Errorf("the first answer is %v, %v; want that to the question", first, err)
	}
}

func packed(t *testing.T, m *dns.Msg) []byte {
	t.Helper()
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Several questions may come over one connection, before the first is answered.
func TestManyQuestionsOnOneConnection(t *testing.T) {
	h := newHarness(t, Config{})
	h.send(shop())
	conn, err := dns.Dial("tcp", h.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(15 * time.Second))
	open := map[uint16]bool{}
	for range 20 {
		q := new(dns.Msg)
		q.SetQuestion("web.default.svc.reeve.", dns.TypeSRV)
		open[q.Id] = true
		if err := conn.WriteMsg(q); err != nil {
			t.Fatal(err)
		}
	}
	asked := len(open)
	for range asked {
		m, err := conn.ReadMsg()
		if err != nil {
			t.Fatal(err)
		}
		if !open[m.Id] || len(m.Answer) != 2 {
			t.Errorf("%v", m)
		}
		delete(open, m.Id)
	}
}
