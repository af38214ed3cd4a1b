// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

// A chunks follows a chunked body to its end. The proxy forwards such a body
// byte for byte; chunks rejects each one that two parsers could read differently.
type chunks struct {
	state  chunkState
	left   uint64            // remaining bytes of the chunk's data, or the part of the size parsed so far
	digits int               // digits of the chunk's size
	line   int               // bytes of a trailer's line, or of a chunk's extension
	total  int               // bytes of all trailers
	inName bool              // reports whether the next byte belongs to a trailer's name
	name   [longestKind]byte // the first bytes of that name
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
	errChunk       = bad("the chunked body is not valid")
	errTrailer     = bad("the trailers after the body are not valid, or larger than 4 KiB")
	errTrailerName = bad("a field after the body may only be in a head")
)

const (
	maxExtension = 256
	maxTrailers  = 4 << 10 // as many as net/http accepts
)

// advance consumes the bytes up to the body's end, and returns their number.
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
		if e := c.step(b[n]); e != nil {
			return n, e
		}
		n++
	}
	return n, nil
}

// step consumes one byte that is not data.
func (c *chunks) step(x byte) *Error {
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
		if c.total++; x != '\n' {
			return errTrailer
		}
		c.state, c.line = chunkTrailer, 0
	case chunkLast:
		if c.total++; x != '\n' || c.total > maxTrailers {
			return errTrailer
		}
		c.state = chunkDone
	}
	return nil
}

// size consumes one byte of a chunk's size.
func (c *chunks) size(x byte) *Error {
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

// trailer consumes one byte of a trailer's line, which must be a field.
func (c *chunks) trailer(x byte) *Error {
	if c.total++; c.total > maxTrailers {
		return errTrailer
	}
	switch {
	case x == '\r' && c.line == 0:
		c.state = chunkLast
	case x == '\r' && !c.inName:
		c.state = chunkTrailerEnd
	case c.line == 0:
		if class[x]&isToken == 0 {
			return errTrailer
		}
		c.inName = true
		c.name[0] = x
		c.line++
	case c.inName && x == ':':
		if c.line <= longestKind && !mayTrail(c.name[:c.line]) {
			return errTrailerName
		}
		c.inName = false
		c.line++
	case c.inName && class[x]&isToken == 0, class[x]&isValue == 0:
		return errTrailer
	default:
		if c.line < longestKind {
			c.name[c.line] = x
		}
		c.line++
	}
	return nil
}

// mayTrail reports whether a field may follow a body. Fields that define a
// message's length, destination or origin may not: some programs treat trailers
// as fields of the head.
func mayTrail(name []byte) bool {
	switch KindOf(name) {
	case Plain:
		return !LooksLikeAnother(name)
	case RequestID:
		return true
	}
	return false
}
