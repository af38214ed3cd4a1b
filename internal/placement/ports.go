// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A portSet is the ports of a node that are taken. It is immutable once it is
// part of a fleet's page; clone it to change it. Most nodes have a few dozen
// ports of 65,535 taken: a bitmap with holes.
type portSet struct {
	// blocks have the number of 16 ports, from 16 times that number on, in the
	// upper half, and a bit for each that is taken in the lower. They are sorted,
	// and none is empty.
	blocks []uint32
}

const blockBits = 16

// find returns where the port's block is or belongs, and what of it is taken.
func (s *portSet) find(port int) (at int, taken uint32) {
	first := uint32(port>>4) << blockBits
	at, _ = slices.BinarySearch(s.blocks, first)
	if at < len(s.blocks) && s.blocks[at]>>blockBits == first>>blockBits {
		return at, s.blocks[at] & (1<<blockBits - 1)
	}
	return at, 0
}

// has reports whether the port is taken. A nil set has none.
func (s *portSet) has(port int) bool {
	if s == nil || port < 0 || port > 65535 {
		return false
	}
	_, taken := s.find(port)
	return taken&(1<<(port&15)) != 0
}

// clone returns a set that can be changed without changing s.
func (s *portSet) clone() *portSet {
	// Together with the first few blocks it is one object.
	c := &struct {
		portSet
		few [6]uint32
	}{}
	switch {
	case s == nil || len(s.blocks) == 0:
		c.blocks = c.few[:0]
	case len(s.blocks) < len(c.few):
		c.blocks = append(c.few[:0], s.blocks...)
	default:
		c.blocks = append(make([]uint32, 0, len(s.blocks)+2), s.blocks...)
	}
	return &c.portSet
}

// add takes the port. Numbers that are no port are ignored.
func (s *portSet) add(port int) {
	if port <= 0 || port > 65535 {
		return
	}
	at, taken := s.find(port)
	if taken == 0 {
		s.blocks = slices.Insert(s.blocks, at, uint32(port>>4)<<blockBits)
	}
	s.blocks[at] |= 1 << (port & 15)
}

// remove frees the port.
func (s *portSet) remove(port int) {
	if !s.has(port) {
		return
	}
	at, taken := s.find(port)
	if taken == 1<<(port&15) {
		s.blocks = slices.Delete(s.blocks, at, at+1)
	} else {
		s.blocks[at] &^= 1 << (port & 15)
	}
}

func (s *portSet) isEmpty() bool { return s == nil || len(s.blocks) == 0 }

// freeIn returns the first free port of lo..hi; 0 if all are taken.
func (s *portSet) freeIn(lo, hi int) int {
	if lo > hi {
		return 0
	}
	if s == nil {
		return lo
	}
	at, taken := s.find(lo)
	for port := lo; port <= hi; at++ {
		if taken == 0 {
			return port
		}
		if free := ^taken >> (port & 15) & (1<<(16-port&15) - 1); free != 0 {
			if port += bits.TrailingZeros32(free); port <= hi {
				return port
			}
			return 0
		}
		port = (port | 15) + 1
		taken = 0
		if next := at + 1; next < len(s.blocks) && s.blocks[next]>>blockBits == uint32(port>>4) {
			taken = s.blocks[next] & (1<<blockBits - 1)
		}
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
