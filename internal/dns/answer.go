// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"math/rand/v2"
	"net/netip"

	"github.com/miekg/dns"
)

// maxRecords bounds an answer: larger sets rotate. A record takes at least smallestRecord
// bytes, which bounds the number of useful records.
const (
	maxRecords     = 1000
	smallestRecord = 16
)

// recordLimit returns the number of records to create for an answer of a size: one more than
// the maximum that fits, so that truncation is detected.
func recordLimit(size int) int { return min(maxRecords, size/smallestRecord+1) }

// answer adds the zone's records for a question.
func (s *Server) answer(m *dns.Msg, q dns.Question, labels []string, size int) {
	m.Authoritative = true
	f := s.zone.find(labels)
	switch {
	case !f.exists:
		m.Rcode = dns.RcodeNameError
	case q.Qtype == dns.TypeANY:
		// RFC 8482: a query for all types gets a minimal answer.
		m.Answer = append(m.Answer, &dns.HINFO{Hdr: s.header(q.Name, dns.TypeHINFO), Cpu: "RFC8482"})
	case f.apex:
		s.answerApex(m, q)
	case f.self:
		s.answerSelf(m, q)
	case f.parts != nil && q.Qtype == dns.TypeSRV:
		s.answerSRV(m, q, weigh(f.parts), recordLimit(size))
	case f.parts != nil && !f.srv && (q.Qtype == dns.TypeA || q.Qtype == dns.TypeAAAA):
		s.answerAddresses(m, q, drawPart(f.parts), recordLimit(size))
	case q.Qtype == dns.TypeSRV:
		s.answerSRV(m, q, f.offers, recordLimit(size))
	case !f.srv && (q.Qtype == dns.TypeA || q.Qtype == dns.TypeAAAA):
		s.answerAddresses(m, q, f.offers, recordLimit(size))
	}
	if len(m.Answer) == 0 {
		m.Ns = append(m.Ns, s.soa())
	}
	if f.stack {
		neverCache(m)
	}
}

// neverCache sets all TTLs to 0: each answer with addresses of stacks is a draw of its own.
func neverCache(m *dns.Msg) {
	for _, section := range [][]dns.RR{m.Answer, m.Ns, m.Extra} {
		for _, rr := range section {
			rr.Header().Ttl = 0
			if soa, ok := rr.(*dns.SOA); ok {
				soa.Minttl = 0
			}
		}
	}
}

func (s *Server) header(name string, kind uint16) dns.RR_Header {
	return dns.RR_Header{Name: name, Rrtype: kind, Class: dns.ClassINET, Ttl: s.ttl}
}

func (s *Server) nameServer() string { return "ns." + labelSelf + "." + s.zoneName }

// soa returns the zone's SOA record, whose TTL for negative answers is that of all others.
func (s *Server) soa() *dns.SOA {
	s.zone.mu.RLock()
	serial := uint32(s.zone.index)
	s.zone.mu.RUnlock()
	return &dns.SOA{
		Hdr: s.header(s.zoneName, dns.TypeSOA), Ns: s.nameServer(), Mbox: "hostmaster." + s.zoneName,
		Serial: serial, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: s.ttl,
	}
}

func (s *Server) answerApex(m *dns.Msg, q dns.Question) {
	switch q.Qtype {
	case dns.TypeSOA:
		m.Answer = append(m.Answer, s.soa())
	case dns.TypeNS:
		m.Answer = append(m.Answer, &dns.NS{Hdr: s.header(q.Name, dns.TypeNS), Ns: s.nameServer()})
		if s.self.IsValid() {
			m.Extra = append(m.Extra, s.address(s.nameServer(), s.self))
		}
	}
}

func (s *Server) answerSelf(m *dns.Msg, q dns.Question) {
	if s.self.IsValid() && isOfType(s.self, q.Qtype) {
		m.Answer = append(m.Answer, s.address(q.Name, s.self))
	}
}

func isOfType(ip netip.Addr, kind uint16) bool {
	return ip.Is4() && kind == dns.TypeA || ip.Is6() && kind == dns.TypeAAAA
}

func (s *Server) address(name string, ip netip.Addr) dns.RR {
	if ip.Is4() {
		return &dns.A{Hdr: s.header(name, dns.TypeA), A: ip.AsSlice()}
	}
	return &dns.AAAA{Hdr: s.header(name, dns.TypeAAAA), AAAA: ip.AsSlice()}
}

// answerAddresses adds each address once, starting at a random one, because most clients use
// the first. A service that has only a host name becomes an alias of it.
func (s *Server) answerAddresses(m *dns.Msg, q dns.Question, offers []offer, most int) {
	seen := make(map[netip.Addr]bool, min(len(offers), 16))
	alias := ""
	for o := range around(offers) {
		switch {
		case o.host != "":
			alias = o.host
		case isOfType(o.ip, q.Qtype) && !seen[o.ip]:
			seen[o.ip] = true
			m.Answer = append(m.Answer, s.address(q.Name, o.ip))
		case !isOfType(o.ip, q.Qtype):
			seen[netip.Addr{}] = true // it has addresses of the other family
		}
		if len(m.Answer) == most {
			return
		}
	}
	if len(seen) == 0 && alias != "" {
		m.Answer = append(m.Answer, &dns.CNAME{Hdr: s.header(q.Name, dns.TypeCNAME), Target: alias})
	}
}

// answerSRV adds the address and port of each instance. The target name encodes the address
// itself: the name of an instance could refer to another address by the time of its query.
func (s *Server) answerSRV(m *dns.Msg, q dns.Question, offers []offer, most int) {
	seen := make(map[netip.Addr]bool, min(len(offers), 16))
	for o := range around(offers) {
		if o.port == 0 {
			continue
		}
		target := o.host
		if o.ip.IsValid() {
			target = addressName(o.ip, s.zoneName)
			if !seen[o.ip] {
				seen[o.ip] = true
				m.Extra = append(m.Extra, s.address(target, o.ip))
			}
		}
		m.Answer = append(m.Answer, &dns.SRV{Hdr: s.header(q.Name, dns.TypeSRV), Priority: 1, Weight: o.weight, Port: o.port, Target: target})
		if len(m.Answer) == most {
			return
		}
	}
}

// around yields all offers, starting at a random one.
func around(offers []offer) func(func(offer) bool) {
	return func(yield func(offer) bool) {
		if len(offers) == 0 {
			return
		}
		from := rand.IntN(len(offers))
		for i := range offers {
			if !yield(offers[(from+i)%len(offers)]) {
				return
			}
		}
	}
}
