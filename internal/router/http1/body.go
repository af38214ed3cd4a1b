// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

// A Body follows a message's body to its end. The zero value is an empty body.
type Body struct {
	framing framing
	left    int64 // bytes before the end of a body with a length
	chunks  chunks
}

// A framing is the rule that ends a body.
type framing uint8

const (
	framedByLength framing = iota
	framedByChunks
	framedByClose
)

// Advance consumes the bytes of b that belong to the body, and returns their
// number. It fails if the chunks are not valid.
func (b *Body) Advance(p []byte) (n int, err error) {
	switch b.framing {
	case framedByChunks:
		return b.chunks.advance(p)
	case framedByClose:
		return len(p), nil
	}
	n = int(min(int64(len(p)), b.left))
	b.left -= int64(n)
	return n, nil
}

// Done reports whether the body has reached its end. A body that ends with its
// connection never does.
func (b *Body) Done() bool {
	switch b.framing {
	case framedByChunks:
		return b.chunks.state == chunkDone
	case framedByClose:
		return false
	}
	return b.left == 0
}

// EndsWithConnection reports whether only the end of the connection marks the
// end of the body.
func (b *Body) EndsWithConnection() bool { return b.framing == framedByClose }
