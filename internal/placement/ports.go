// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A portSet holds the taken ports of a node. It is immutable once it is part of a fleet's
// page; clone it to change it. Most nodes have a few dozen of 65,535 ports taken, so the
// set is a sparse bitmap.
type portSet struct {
	// Each block covers 16 ports. The upper half of a block is its number: its ports start
	// at 16 times that number. The lower half has a bit for each taken port. Blocks are
	// sorted, and none is empty.
	blocks []uint32
}

const blockBits = 16

// find returns the position where the port's block is or belongs, and the block's bits of
// taken ports.
func (s *portSet) find(port int) (at int, taken uint32) {
	first := uint32(port>>4) << blockBits
	at, _ = slices.BinarySearch(s.blocks, first)
	if at < len(s.blocks) && s.blocks[at]>>blockBits == first>>blockBits {
		return at, s.blocks[at] & (1<<blockBits - 1)
	}
	return at, 0
}

// has reports whether the port is taken. A nil set is empty.
func (s *portSet) has(port int) bool {
	if s == nil || port < 0 || port > 65535 {
		return false
	}
	_, taken := s.find(port)
	return taken&(1<<(port&15)) != 0
}

// clone returns a copy that can be changed without changing s.
func (s *portSet) clone() *portSet {
	// The set and its first few blocks share one object.
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

// add takes the port. It ignores numbers that are not ports.
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

// freeIn returns the first free port of lo..hi, or 0 if all are taken.
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

// eachPort calls f for every port of a list such as "22,80,8000-8100". It skips parts that
// it cannot parse, because the agent has validated the list before.
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
