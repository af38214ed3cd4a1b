// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// gzipPieces compresses a stream of which the reader must receive every piece at once. It is
// one gzip member, because browsers ignore those after the first.
//
// A compressor takes about a megabyte, and a server holds thousands of streams. So nothing of a
// compressor outlives a piece: each piece is compressed by itself and ends at a byte. What
// remains is the end of the stream so far, to which the next piece may refer, because events
// resemble each other. A quiet stream gives it up.
type gzipPieces struct {
	began  bool
	sum    uint32      // CRC-32 of everything so far
	size   uint32      // bytes so far, modulo 2^32
	recent *recentText // nil: none
}

// recentText is the end of a stream, at most as long as a piece may refer back.
type recentText struct {
	n    int
	last [8 << 10]byte
}

var recentTexts = sync.Pool{New: func() any { return new(recentText) }}

// gzipHeader says: deflate, no name, no time, unknown system.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// emptyBlock is a stored block without data, at which readers deliver all that precedes it.
var emptyBlock = []byte{0, 0, 0, 0xff, 0xff}

// smallPiece is the size of pieces, such as heartbeats, that are not compressed, in bytes.
const smallPiece = 64

// write writes a piece.
func (z *gzipPieces) write(w io.Writer, p []byte) error {
	if !z.began {
		z.began = true
		if _, err := w.Write(gzipHeader); err != nil {
			return err
		}
	}
	if len(p) == 0 {
		return nil
	}
	z.sum = crc32.Update(z.sum, crc32.IEEETable, p)
	z.size += uint32(len(p))
	if len(p) < smallPiece {
		z.release() // only a quiet stream has such pieces
		block := binary.LittleEndian.AppendUint16([]byte{0}, uint16(len(p)))
		block = binary.LittleEndian.AppendUint16(block, ^uint16(len(p)))
		_, err := w.Write(append(append(block, p...), emptyBlock...))
		return err
	}
	if z.recent == nil {
		z.recent = recentTexts.Get().(*recentText)
		z.recent.n = 0
	}
	if err := flate.StatelessDeflate(w, p, false, z.recent.bytes()); err != nil {
		return err
	}
	z.recent.add(p)
	return nil
}

// end writes the end of the stream.
func (z *gzipPieces) end(w io.Writer) error {
	if err := flate.StatelessDeflate(w, nil, true, nil); err != nil {
		return err
	}
	_, err := w.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, z.sum), z.size))
	return err
}

// release gives the history up.
func (z *gzipPieces) release() {
	if z.recent != nil {
		recentTexts.Put(z.recent)
		z.recent = nil
	}
}

func (h *recentText) bytes() []byte { return h.last[:h.n] }

// add appends a piece, and forgets what is too old.
func (h *recentText) add(p []byte) {
	if len(p) >= len(h.last) {
		h.n = copy(h.last[:], p[len(p)-len(h.last):])
		return
	}
	if keep := len(h.last) - len(p); h.n > keep {
		copy(h.last[:], h.last[h.n-keep:h.n])
		h.n = keep
	}
	h.n += copy(h.last[h.n:], p)
}
