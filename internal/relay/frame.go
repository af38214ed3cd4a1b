// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// MaxBody is the size of the largest body of a request, in bytes.
const MaxBody = 64 << 10

// Bounds of what the other side may send.
const (
	maxRequest  = MaxBody + 128<<10 // bytes of a frame with a request; headers have up to 64 KB
	maxAnswer   = 64 << 20          // bytes of a frame with an answer
	maxHeaders  = 512               // values of the headers of a frame
	maxInFlight = 512               // requests of a connection without an answer
)

// frameHead is the size of a frame's length, in bytes.
const frameHead = 4

// kind is the kind of a frame.
type kind byte

const (
	kindRequest kind = iota + 1
	kindAnswer
	kindCancel
	kindAborted
	kindPing
	kindPong
	kindGoodbye
)

// errProtocol is wrapped by errors about a frame that the other side must not send.
var errProtocol = errors.New("the other server violates the protocol")

// appendFrame appends a frame whose content fill appends.
func appendFrame(b []byte, k kind, id uint64, fill func([]byte) []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0, byte(k))
	b = binary.AppendUvarint(b, id)
	if fill != nil {
		b = fill(b)
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-frameHead))
	return b
}

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendHeader(b []byte, h http.Header) []byte {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	b = binary.AppendUvarint(b, uint64(n))
	for name, values := range h {
		for _, value := range values {
			b = appendText(appendText(b, name), value)
		}
	}
	return b
}

// appendRequest appends the content of a request's frame.
func appendRequest(b []byte, r *http.Request, body []byte) []byte {
	b = appendText(b, r.Method)
	b = appendText(b, r.URL.RequestURI())
	b = appendText(b, r.Host)
	return append(appendHeader(b, r.Header), body...)
}

// appendAnswer appends the content of an answer's frame.
func appendAnswer(b []byte, status int, h http.Header, body []byte) []byte {
	b = binary.AppendUvarint(b, uint64(status))
	return append(appendHeader(b, h), body...)
}

// readFrame reads the next frame, of at most limit bytes. It allocates memory as the content
// arrives, not as the length announces.
func readFrame(r *bufio.Reader, limit int) (k kind, id uint64, content []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, nil, err
	}
	size := int(binary.BigEndian.Uint32(head[:]))
	if size < 2 || size > limit {
		return 0, 0, nil, fmt.Errorf("%w: a frame has %d bytes; the limit is %d", errProtocol, size, limit)
	}
	if size <= maxRequest {
		content = make([]byte, size)
		_, err = io.ReadFull(r, content)
	} else {
		var grown bytes.Buffer
		_, err = io.CopyN(&grown, r, int64(size))
		content = grown.Bytes()
	}
	if err != nil {
		return 0, 0, nil, fmt.Errorf("a frame ends early: %w", err)
	}
	id, n := binary.Uvarint(content[1:])
	if n <= 0 {
		return 0, 0, nil, fmt.Errorf("%w: a frame has no number", errProtocol)
	}
	return kind(content[0]), id, content[1+n:], nil
}

// A cursor reads the content of a frame. The first error remains.
type cursor struct {
	rest []byte
	err  error
}

func (c *cursor) number() uint64 {
	n, size := binary.Uvarint(c.rest)
	if size <= 0 {
		c.fail("a number is damaged")
		return 0
	}
	c.rest = c.rest[size:]
	return n
}

func (c *cursor) text() string {
	size := c.number()
	if size > uint64(len(c.rest)) {
		c.fail("a text is longer than its frame")
		return ""
	}
	s := string(c.rest[:size])
	c.rest = c.rest[size:]
	return s
}

func (c *cursor) header() http.Header {
	n := c.number()
	if n > maxHeaders {
		c.fail(fmt.Sprintf("a frame has %d headers; the limit is %d", n, maxHeaders))
		return nil
	}
	h := make(http.Header, n)
	for range n {
		name := c.text()
		if value := c.text(); c.err == nil {
			h[name] = append(h[name], value)
		}
	}
	return h
}

func (c *cursor) fail(why string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", errProtocol, why)
	}
	c.rest = nil
}
