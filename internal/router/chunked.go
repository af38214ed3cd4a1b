// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import "errors"

// A chunked body is passed on as it is, byte for byte; a chunks follows it to
// its end, and takes only what cannot be read in two ways.
type chunks struct {
	state  chunkState
	left   uint64 // bytes of the chunk's data; while its size is read: the size
	digits int
	line   int // bytes of a trailer's line, or of a chunk's extension
	total  int // bytes of all trailers
	name   bool
	begun  [longestKind]byte // of a trailer's name
}

type chunkState uint8

const (
	chunkSize chunkState = iota
	chunkExtension
	chunkSizeEnd // LF
	chunkData
	chunkDataEnd  // CR
	chunkDataEnd2 // LF
	chunkTrailer
	chunkTrailerEnd // LF
	chunkLast       // LF of the empty line
	chunkDone
)

var (
	errChunk   = errors.New("the chunked body is not valid")
	errTrailer = errors.New("the trailers after the body are not valid, or larger than 8 KiB")
	// What a trailer names belongs into a head.
	errTrailerName = errors.New("a field after the body may only be in a head")
)

const (
	maxExtension = 256
	maxTrailers  = 8 << 10
)

func (c *chunks) isDone() bool { return c.state == chunkDone }

// advance takes bytes up to the body's end, and says how many of them belong to
// it.
func (c *chunks) advance(b []byte) (n int, err error) {
	for n < len(b) && c.state != chunkDone {
		if c.state == chunkData {
			take := min(uint64(len(b)-n), c.left)
			n += int(take)
			if c.left -= take; c.left == 0 {
				c.state = chunkDataEnd
			}
			continue
		}
		if err := c.step(b[n]); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// step takes one byte outside of data.
func (c *chunks) step(x byte) error {
	switch c.state {
	case chunkSize:
		return c.size(x)
	case chunkExtension:
		if c.line++; x == '\r' {
			c.state = chunkSizeEnd
		} else if class[x]&isValue == 0 || c.line > maxExtension {
			return errChunk
		}
	case chunkSizeEnd:
		if x != '\n' {
			return errChunk
		}
		if c.state = chunkData; c.left == 0 {
			c.state, c.line = chunkTrailer, 0
		}
	case chunkDataEnd:
		if x != '\r' {
			return errChunk
		}
		c.state = chunkDataEnd2
	case chunkDataEnd2:
		if x != '\n' {
			return errChunk
		}
		c.state, c.left, c.digits, c.line = chunkSize, 0, 0, 0
	case chunkTrailer:
		return c.trailer(x)
	case chunkTrailerEnd:
		if x != '\n' {
			return errTrailer
		}
		c.state, c.line = chunkTrailer, 0
	case chunkLast:
		if x != '\n' {
			return errTrailer
		}
		c.state = chunkDone
	}
	return nil
}

func (c *chunks) size(x byte) error {
	var digit byte
	switch {
	case x >= '0' && x <= '9':
		digit = x - '0'
	case x|0x20 >= 'a' && x|0x20 <= 'f':
		digit = x | 0x20 - 'a' + 10
	case c.digits == 0:
		return errChunk
	case x == '\r':
		c.state = chunkSizeEnd
		return nil
	case x == ';':
		c.state = chunkExtension
		return nil
	default:
		return errChunk
	}
	if c.digits++; c.digits > 15 {
		return errChunk
	}
	c.left = c.left<<4 | uint64(digit)
	return nil
}

// trailer takes a byte of a trailer's line. It must be a field, with a name.
func (c *chunks) trailer(x byte) error {
	if c.total++; c.total > maxTrailers {
		return errTrailer
	}
	switch {
	case x == '\r' && c.line == 0:
		c.state = chunkLast
	case x == '\r' && !c.name:
		c.state = chunkTrailerEnd
	case c.line == 0:
		if class[x]&isToken == 0 {
			return errTrailer
		}
		c.name = true
		c.begun[0] = x
		c.line++
	case c.name && x == ':':
		if c.line <= longestKind && !mayTrail(c.begun[:c.line]) {
			return errTrailerName
		}
		c.name = false
		c.line++
	case c.name && class[x]&isToken == 0, class[x]&isValue == 0:
		return errTrailer
	default:
		if c.line < longestKind {
			c.begun[c.line] = x
		}
		c.line++
	}
	return nil
}

// mayTrail reports whether a field may come after a body. What says how long a
// message is, where it goes or where it came from may not: some take trailers
// for fields of the head.
func mayTrail(name []byte) bool {
	switch kindOf(name) {
	case plain:
		return !looksLikeAnother(name)
	case fieldRequestID:
		return true
	}
	return false
}
