// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/rand"
	"encoding/hex"
)

// NewID returns a random identifier in UUID form (RFC 9562, version 4), for evaluations,
// allocations, deployments and nodes.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand aborts the program instead
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return FormatID(b)
}

// FormatID formats the 16 bytes of an identifier in UUID form.
func FormatID(b [16]byte) string {
	var s [36]byte
	writeID(s[:], b)
	return string(s[:])
}

func writeID(s []byte, b [16]byte) {
	hex.Encode(s[0:8], b[0:4])
	s[8] = '-'
	hex.Encode(s[9:13], b[4:6])
	s[13] = '-'
	hex.Encode(s[14:18], b[6:8])
	s[18] = '-'
	hex.Encode(s[19:23], b[8:10])
	s[23] = '-'
	hex.Encode(s[24:36], b[10:16])
}

// idBlock is the number of identifiers that share one block of memory.
const idBlock = 32

// IDs generates identifiers like NewID, but in blocks. It is for one goroutine.
type IDs struct {
	Expected int // approximate number of identifiers to generate
	text     string
}

// Next returns the next identifier.
func (s *IDs) Next() string {
	if s.text == "" {
		s.draw(min(max(s.Expected, 1), idBlock))
	}
	id := s.text[:36]
	s.text = s.text[36:]
	s.Expected--
	return id
}

func (s *IDs) draw(n int) {
	var random [16 * idBlock]byte
	var text [36 * idBlock]byte
	rand.Read(random[:16*n])
	for i := range n {
		b := [16]byte(random[16*i:])
		b[6] = b[6]&0x0f | 0x40
		b[8] = b[8]&0x3f | 0x80
		writeID(text[36*i:36*i+36], b)
	}
	s.text = string(text[:36*n])
}
