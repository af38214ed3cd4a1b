// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"math/bits"
	"strconv"
	"strings"
)

const (
	portPageBits = 10 // ports per page, as a power of two
	portPages    = 1 << (16 - portPageBits)
	portWords    = 1 << (portPageBits - 6)
)

type portPage [portWords]uint64

// A portSet is the ports of a node that are taken. It is immutable once it is
// part of a fleet's page; clone it to change it. Pages of 1,024 ports exist
// only where one is taken.
type portSet struct {
	pages [portPages]*portPage
	owned uint64 // bit i: pages[i] belongs to this set alone
}

// has reports whether the port is taken. A nil set has none.
func (s *portSet) has(port int) bool {
	if s == nil || port < 0 || port > 65535 {
		return false
	}
	p := s.pages[port>>portPageBits]
	return p != nil && p[port>>6&(portWords-1)]&(1<<(port&63)) != 0
}

// clone returns a set that can be changed without changing s.
func (s *portSet) clone() *portSet {
	if s == nil {
		return &portSet{}
	}
	c := &portSet{pages: s.pages}
	return c
}

func (s *portSet) page(i int) *portPage {
	if s.owned&(1<<i) == 0 {
		own := new(portPage)
		if p := s.pages[i]; p != nil {
			*own = *p
		}
		s.pages[i], s.owned = own, s.owned|1<<i
	}
	return s.pages[i]
}

// add takes the port. Numbers that are no port are ignored.
func (s *portSet) add(port int) {
	if port > 0 && port <= 65535 {
		s.page(port >> portPageBits)[port>>6&(portWords-1)] |= 1 << (port & 63)
	}
}

// remove frees the port.
func (s *portSet) remove(port int) {
	if s.has(port) {
		s.page(port >> portPageBits)[port>>6&(portWords-1)] &^= 1 << (port & 63)
	}
}

func (s *portSet) isEmpty() bool {
	for _, p := range s.pages {
		if p != nil && *p != (portPage{}) {
			return false
		}
	}
	return true
}

// freeIn returns the first free port of lo..hi; 0 if all are taken.
func (s *portSet) freeIn(lo, hi int) int {
	if s == nil && lo <= hi {
		return lo
	}
	for port := lo; port <= hi; {
		p := s.pages[port>>portPageBits]
		if p == nil {
			return port
		}
		word := ^p[port>>6&(portWords-1)] >> (port & 63)
		if word != 0 {
			if port += bits.TrailingZeros64(word); port <= hi {
				return port
			}
			return 0
		}
		port = (port | 63) + 1
	}
	return 0
}

// eachPort calls f for every port of a list like "22,80,8000-8100". What cannot
// be read is left out: the agent has checked the list before.
func eachPort(list string, f func(port int)) {
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		lo, err := strconv.Atoi(strings.TrimSpace(from))
		if err != nil {
			continue
		}
		hi := lo
		if isRange {
			if hi, err = strconv.Atoi(strings.TrimSpace(to)); err != nil {
				continue
			}
		}
		for port := max(lo, 1); port <= min(hi, 65535); port++ {
			f(port)
		}
	}
}
