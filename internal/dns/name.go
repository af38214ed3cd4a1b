// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"encoding/hex"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// Labels directly below the zone.
const (
	labelService  = "svc"
	labelInstance = "inst"
	labelAddress  = "addr"
	labelSelf     = "dns" // the server itself
	labelStack    = "stack"
)

// found is the object that a name denotes.
type found struct {
	exists bool
	apex   bool
	self   bool // reports whether it is the server itself
	offers []offer
	srv    bool // reports whether only SRV records have the name
	stack  bool // reports whether the name is below that of stacks
	parts  []part
}

// find looks up a name below the zone. Labels are unescaped and in lower case.
func (z *zone) find(labels []string) found {
	if len(labels) == 0 {
		return found{exists: true, apex: true}
	}
	last := len(labels) - 1
	below := labels[:last]
	switch labels[last] {
	case labelService:
		return z.findService(below)
	case labelInstance:
		return z.findInstance(below)
	case labelAddress:
		return findAddress(below)
	case labelSelf:
		return found{exists: len(below) == 0 || len(below) == 1 && below[0] == "ns", self: len(below) == 1}
	case labelStack:
		return z.findStack(below)
	}
	return found{}
}

// findService parses [TAG.]SERVICE.NAMESPACE and _SERVICE._tcp.NAMESPACE. Namespaces, services
// and tags may contain dots: the longest namespace with such a service wins, then the longest
// service.
func (z *zone) findService(labels []string) found {
	z.mu.RLock()
	defer z.mu.RUnlock()
	if len(labels) == 0 {
		return found{exists: true}
	}
	exists := false
	for i := range labels {
		namespace := strings.Join(labels[i:], ".")
		if z.namespaces[namespace] == 0 {
			continue
		}
		f := z.findServiceIn(labels[:i], namespace)
		if len(f.offers) > 0 {
			return f
		}
		exists = exists || f.exists
	}
	return found{exists: exists || z.isAboveNamespace(labels)}
}

// isAboveNamespace reports whether a nested namespace is below the name: above sandbox.dev
// is dev, even if dev itself has no services.
func (z *zone) isAboveNamespace(labels []string) bool {
	suffix := "." + strings.Join(labels, ".")
	for namespace := range z.namespaces {
		if strings.HasSuffix(namespace, suffix) {
			return true
		}
	}
	return false
}

// findServiceIn looks up [TAG.]SERVICE or _SERVICE._tcp in a namespace with services.
func (z *zone) findServiceIn(labels []string, namespace string) found {
	if len(labels) == 0 {
		return found{exists: true}
	}
	if proto := labels[len(labels)-1]; proto == "_tcp" || proto == "_udp" {
		name, ok := strings.CutPrefix(strings.Join(labels[:len(labels)-1], "."), "_")
		if !ok {
			return found{exists: len(labels) == 1}
		}
		offers := z.services[inNamespace{name, namespace}]
		return found{exists: len(offers) > 0, offers: offers, srv: true}
	}
	for i := range labels {
		offers, ok := z.services[inNamespace{strings.Join(labels[i:], "."), namespace}]
		if !ok {
			continue
		}
		if i == 0 {
			return found{exists: true, offers: offers}
		}
		if offers = tagged(offers, strings.Join(labels[:i], ".")); len(offers) > 0 {
			return found{exists: true, offers: offers}
		}
	}
	return found{exists: z.isAboveService(labels, namespace)}
}

// isAboveService reports whether the name is an ancestor of a service or tag: for the service
// a.b, b exists.
func (z *zone) isAboveService(labels []string, namespace string) bool {
	suffix := "." + strings.Join(labels, ".")
	for service, offers := range z.services {
		if service.namespace != namespace {
			continue
		}
		if strings.HasSuffix(service.name, suffix) {
			return true
		}
		tail, ok := strings.CutSuffix(suffix, "."+service.name)
		if ok && slices.ContainsFunc(offers, func(o offer) bool {
			return slices.ContainsFunc(o.tags, func(t string) bool { return strings.HasSuffix(strings.ToLower(t), tail) })
		}) {
			return true
		}
	}
	return false
}

// tagged returns the offers with a tag.
func tagged(offers []offer, tag string) (with []offer) {
	for _, o := range offers {
		if slices.ContainsFunc(o.tags, func(t string) bool { return strings.EqualFold(t, tag) }) {
			with = append(with, o)
		}
	}
	return with
}

// findInstance reads INDEX.GROUP.JOB.NAMESPACE. Jobs and namespaces may contain dots: the
// longest namespace with such an instance wins.
func (z *zone) findInstance(labels []string) found {
	z.mu.RLock()
	defer z.mu.RUnlock()
	for i := range labels {
		offers := z.instances[inNamespace{strings.Join(labels[:i], "."), strings.Join(labels[i:], ".")}]
		if len(offers) > 0 {
			return found{exists: true, offers: offers}
		}
	}
	return found{exists: len(labels) == 0 || z.above[strings.Join(labels, ".")] > 0}
}

// findAddress decodes the address in a name.
func findAddress(labels []string) found {
	if len(labels) == 0 {
		return found{exists: true}
	}
	raw, err := hex.DecodeString(labels[0])
	ip, ok := netip.AddrFromSlice(raw)
	if len(labels) > 1 || err != nil || !ok || ip.Is4In6() {
		return found{}
	}
	return found{exists: true, offers: []offer{{ip: ip}}}
}

// addressName returns the name that encodes an address.
func addressName(ip netip.Addr, zone string) string {
	return hex.EncodeToString(ip.AsSlice()) + "." + labelAddress + "." + zone
}

// labelsBelow removes the zone from a name, and unescapes its labels. It returns false for a
// name outside of the zone.
func labelsBelow(name, zone string) ([]string, bool) {
	name = strings.ToLower(name)
	if !dns.IsSubDomain(zone, name) {
		return nil, false
	}
	labels := dns.SplitDomainName(name)
	labels = labels[:len(labels)-dns.CountLabel(zone)]
	for i, l := range labels {
		if strings.IndexByte(l, '\\') >= 0 {
			labels[i] = unescape(l)
		}
	}
	return labels, true
}

// unescape decodes \. and \046.
func unescape(label string) string {
	var b strings.Builder
	for i := 0; i < len(label); i++ {
		c := label[i]
		if c != '\\' || i+1 == len(label) {
			b.WriteByte(c)
			continue
		}
		i++
		if i+2 < len(label) && isDigit(label[i]) && isDigit(label[i+1]) && isDigit(label[i+2]) {
			b.WriteByte(100*(label[i]-'0') + 10*(label[i+1]-'0') + label[i+2] - '0')
			i += 2
			continue
		}
		b.WriteByte(label[i])
	}
	return strings.ToLower(b.String())
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
