// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strconv"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
)

// A scratch is what working a job out needs only while it lasts: for a job of
// 1,000 new instances that is as much as what comes of it. It is used again by
// the next. A survey without one (nil) makes everything anew.
type scratch struct {
	instances []instance
	steps     []step
	chosen    []*step
	flags     []bool
	facts     facts
	plans     plans
	deployer  deployer
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// kept bounds what stays from one job to the next; very large ones are rare.
const kept = 1 << 14

func (m *scratch) newFacts() *facts {
	if m == nil {
		return new(facts)
	}
	return &m.facts
}

func (m *scratch) newPlans() *plans {
	if m == nil {
		return new(plans)
	}
	return &m.plans
}

func (m *scratch) newDeployer() *deployer {
	if m == nil {
		return new(deployer)
	}
	return &m.deployer
}

// instancesFor returns n instances to be filled in.
func (m *scratch) instancesFor(n int) []instance {
	if m == nil {
		return make([]instance, n)
	}
	return carve(&m.instances, n)
}

// stepsFor returns n steps to be filled in.
func (m *scratch) stepsFor(n int) []step {
	if m == nil {
		return make([]step, n)
	}
	return carve(&m.steps, n)
}

// chosenFor returns an empty list with room for n steps.
func (m *scratch) chosenFor(n int) []*step {
	if m == nil {
		return make([]*step, 0, n)
	}
	return carve(&m.chosen, n)[:0]
}

// flagsFor returns n flags, unset.
func (m *scratch) flagsFor(n int) []bool {
	if m == nil {
		return make([]bool, n)
	}
	return carve(&m.flags, n)
}

// carve cuts n elements off what the slab has left. They are zero.
func carve[T any](slab *[]T, n int) []T {
	s := *slab
	if cap(s)-len(s) < n {
		s = make([]T, 0, max(2*cap(s), n))
	}
	*slab = s[:len(s)+n]
	return s[len(s) : len(s)+n : len(s)+n]
}

// release gives the memory to whoever is next. Nothing carved from it may be in
// use.
func (m *scratch) release() {
	if cap(m.instances)+cap(m.steps)+cap(m.chosen) > 3*kept {
		return
	}
	m.facts, m.plans, m.deployer = facts{}, plans{}, deployer{}
	m.instances, m.steps, m.chosen, m.flags = wiped(m.instances), wiped(m.steps), wiped(m.chosen), wiped(m.flags)
	scratchPool.Put(m)
}

func wiped[T any](s []T) []T {
	clear(s)
	return s[:0]
}

// A maker makes requests and their names, several in one piece of memory. All
// names of a piece stay as long as one does, so pieces are small.
type maker struct {
	requests []placement.Request // what is left of the last piece
	pieces   []*requestPiece
	names    strings.Builder
	prefix   string // of names in group
	group    string
	shared   string // name of all allocations of sharedBy
	sharedBy string // group
}

// A requestPiece is used again once its requests have been placed.
type requestPiece [31]placement.Request

var requestPieces = sync.Pool{New: func() any { return new(requestPiece) }}

const namePiece = 512 // bytes

// request returns one to be filled in.
func (m *maker) request() *placement.Request {
	if len(m.requests) == 0 {
		p := requestPieces.Get().(*requestPiece)
		m.pieces, m.requests = append(m.pieces, p), p[:]
	}
	r := &m.requests[0]
	m.requests = m.requests[1:]
	return r
}

// Placed tells that an outcome was worked out from Start. Nothing refers to the
// requests any more: Start becomes nil, and their memory the next result's. It
// need not be called.
func (r *Result) Placed() {
	r.Start = nil
	for _, p := range r.pieces {
		clear(p[:])
		requestPieces.Put(p)
	}
	r.pieces = nil
}

// sharedName returns the name that all allocations of a group share if the job runs
// on every node.
func (m *maker) sharedName(job, group string) string {
	if m.shared == "" || m.sharedBy != group {
		m.shared, m.sharedBy = api.AllocName(job, group, 0), group
	}
	return m.shared
}

// name is api.AllocName.
func (m *maker) name(job, group string, index, left int) string {
	if m.prefix == "" || m.group != group {
		m.group = group
		m.prefix = strings.TrimSuffix(api.AllocName(job, group, 0), "0]")
	}
	var number [20]byte
	digits := strconv.AppendInt(number[:0], int64(index), 10)
	size := len(m.prefix) + len(digits) + 1
	if m.names.Cap()-m.names.Len() < size {
		m.names.Reset()
		m.names.Grow(max(min(size*(left+1), namePiece), size))
	}
	// What is written later goes behind it, into room that is there: the string
	// stays what it is.
	from := m.names.Len()
	m.names.WriteString(m.prefix)
	m.names.Write(digits)
	m.names.WriteByte(']')
	return m.names.String()[from:]
}
