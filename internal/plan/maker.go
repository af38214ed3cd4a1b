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

// A maker makes requests and their names, several in one piece of memory. A piece
// stays allocated while one of its names is in use, so pieces are small.
type maker struct {
	requests []placement.Request // unused rest of the last piece
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

// request returns an empty request.
func (m *maker) request() *placement.Request {
	if len(m.requests) == 0 {
		p := requestPieces.Get().(*requestPiece)
		m.pieces, m.requests = append(m.pieces, p), p[:]
	}
	r := &m.requests[0]
	m.requests = m.requests[1:]
	return r
}

// Placed recycles the requests of Start for later results, and sets Start to nil. A
// caller may call it when nothing refers to the requests, after their placement.
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

// name returns api.AllocName of the instance. Left is the number of names that will
// follow.
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
	// Later names are appended within the capacity, so this string never changes.
	from := m.names.Len()
	m.names.WriteString(m.prefix)
	m.names.Write(digits)
	m.names.WriteByte(']')
	return m.names.String()[from:]
}
