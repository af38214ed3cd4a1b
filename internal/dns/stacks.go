// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// stacks is the part of a zone below stack.ZONE.
type stacks struct {
	directory *lifecycle.Directory
	offers    map[api.NamespacedID][]offer // addresses for callers, by namespace and stack
}

func newStacks() stacks {
	return stacks{directory: lifecycle.NewDirectory(), offers: map[api.NamespacedID][]offer{}}
}

// A part is a stack that a name leads to, with its part of the answers.
type part struct {
	offers []offer
	share  float64
}

func stackOf(e *api.CatalogEntry) api.NamespacedID {
	return api.NamespacedID{Namespace: e.Namespace, ID: e.JobID}
}

// add adds the address of an allocation for callers of its stack.
func (s *stacks) add(e *api.CatalogEntry) {
	host, text, err := net.SplitHostPort(e.StackAddress)
	if err != nil {
		return
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return
	}
	o := offer{alloc: e.AllocID, port: uint16(port), weight: 1}
	o.at(host)
	s.offers[stackOf(e)] = append(s.offers[stackOf(e)], o)
}

// remove removes the address of an allocation. Lists are never changed: readers may hold them.
func (s *stacks) remove(e *api.CatalogEntry) {
	if e.StackAddress == "" {
		return
	}
	key := stackOf(e)
	rest := slices.DeleteFunc(slices.Clone(s.offers[key]), func(o offer) bool { return o.alloc == e.AllocID })
	if len(rest) == 0 {
		delete(s.offers, key)
		return
	}
	s.offers[key] = rest
}

// findStack looks up SELECTOR.UNIT.NAMESPACE and _UNIT._tcp.SELECTOR.NAMESPACE.
func (z *zone) findStack(labels []string) found {
	z.mu.RLock()
	defer z.mu.RUnlock()
	f := found{stack: true}
	if slices.ContainsFunc(labels, func(l string) bool { return strings.Contains(l, ".") }) {
		return f
	}
	if len(labels) >= 4 && labels[1] == "_tcp" {
		unit, ok := strings.CutPrefix(labels[0], "_")
		f.srv = ok
		labels = slices.Concat([]string{labels[2], unit}, labels[3:])
	}
	name, ok := lifecycle.ParseName(strings.Join(labels, "."))
	if ok {
		f.parts, f.exists = z.stacks.find(name)
	}
	if !f.exists && !f.srv {
		f.exists = z.stacks.isAbove(labels)
	}
	return f
}

// find returns the stacks of a name, and whether the name denotes any.
func (s *stacks) find(name lifecycle.Name) ([]part, bool) {
	selector, ok := lifecycle.ParseSelector(name.Selector)
	if !ok {
		return nil, false
	}
	for namespace := range name.Namespaces {
		roster := s.directory.At(lifecycle.Place{Unit: name.Unit, Namespace: namespace})
		if roster == nil {
			continue
		}
		if selection, found := roster.Select(selector); found {
			return s.partsOf(roster, selection), len(selection.Choices) > 0
		}
	}
	return nil, false
}

// partsOf returns the choices that have instances. A stack without instances gives its share to
// the others.
func (s *stacks) partsOf(roster *lifecycle.Roster, selection lifecycle.Selection) (parts []part) {
	total := 0.0
	for _, c := range selection.Choices {
		offers := s.offers[api.NamespacedID{Namespace: roster.Namespace, ID: c.Stack.Stack}]
		if c.Share > 0 && len(offers) > 0 {
			parts = append(parts, part{offers, c.Share})
			total += c.Share
		}
		if selection.InOrder && len(parts) > 0 {
			break
		}
	}
	for i := range parts {
		parts[i].share /= total
	}
	return parts
}

// isAbove reports whether a name is an ancestor of names of stacks: a namespace, also one that
// only uses the stacks around it, or a unit.
func (s *stacks) isAbove(labels []string) bool {
	if len(labels) == 0 {
		return true
	}
	if labels[0] == "_tcp" {
		return len(labels) > 1 && s.isAbove(labels[1:])
	}
	text := strings.Join(labels, ".")
	if unit, namespace, ok := strings.Cut(text, "."); ok {
		for namespace := range (lifecycle.Name{Namespace: namespace}).Namespaces {
			if s.directory.At(lifecycle.Place{Unit: unit, Namespace: namespace}) != nil || len(labels) == 2 && s.directory.HasNamespace(namespace) {
				return true
			}
		}
	}
	return s.directory.HasNamespace(text) || s.directory.IsAboveNamespace(text)
}

// drawPart draws one stack by share.
func drawPart(parts []part) []offer {
	u := rand.Float64()
	for i, p := range parts {
		if u < p.share || i == len(parts)-1 {
			return p.offers
		}
		u -= p.share
	}
	return nil
}

// wholeWeight is the sum of the weights of the SRV records of a name.
const wholeWeight = 1000

// weigh returns the addresses of all stacks. Each stack's part of the weights is its share.
func weigh(parts []part) (offers []offer) {
	for _, p := range parts {
		weight := max(1, math.Round(wholeWeight*p.share/float64(len(p.offers))))
		for _, o := range p.offers {
			o.weight = uint16(weight)
			offers = append(offers, o)
		}
	}
	return offers
}
