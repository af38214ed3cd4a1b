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
