// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A snapshot file is the magic, the format version and frames:
//
//	kind    uint8
//	length  uint32  of the payload
//	crc     uint32  CRC-32C of kind and payload
//	payload
//
// The last frame is frameEnd: without it the file was cut short. Kinds are
// added, never reused.
const (
	snapshotMagic  = "REEVESNP"
	snapshotFormat = 1
	maxFrame       = 1 << 30
)

const (
	frameHeader      = 1
	frameJobs        = 2
	frameNodes       = 3
	frameEvaluations = 4
	frameDeployments = 5
	frameAllocations = 6
	frameEnd         = 7
	frameScheduler   = 8
	frameCluster     = 11
	// Declared nouns use kind 9, kind 10, and all kinds from 12.
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type frameWriter struct {
	w    io.Writer
	size int64 // bytes written
	err  error
	text []byte // of a payload; its memory is used again
}

func newFrameWriter(w io.Writer) *frameWriter {
	f := &frameWriter{w: w}
	f.write([]byte(snapshotMagic))
	f.write(binary.LittleEndian.AppendUint32(nil, snapshotFormat))
	return f
}

func (f *frameWriter) write(b []byte) {
	if f.err == nil {
		_, f.err = f.w.Write(b)
		f.size += int64(len(b))
	}
}

func (f *frameWriter) frame(kind byte, payload []byte) {
	crc := crc32.Update(crc32.Checksum([]byte{kind}, castagnoli), castagnoli, payload)
	b := append(make([]byte, 0, 9), kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	f.write(binary.LittleEndian.AppendUint32(b, crc))
	f.write(payload)
}

type frameReader struct {
	r io.Reader
}

func newFrameReader(r io.Reader) (*frameReader, error) {
	var b [len(snapshotMagic) + 4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return nil, truncated(err)
	}
	if string(b[:len(snapshotMagic)]) != snapshotMagic {
		return nil, errors.New("this is not a snapshot")
	}
	if v := binary.LittleEndian.Uint32(b[len(snapshotMagic):]); v != snapshotFormat {
		return nil, fmt.Errorf("the snapshot has format %d and this version of Reeve reads format %d: use the version that wrote it, or a newer one", v, snapshotFormat)
	}
	return &frameReader{r: r}, nil
}

// next returns the next frame.
func (f *frameReader) next() (kind byte, payload []byte, err error) {
	var b [9]byte
	if _, err := io.ReadFull(f.r, b[:]); err != nil {
		return 0, nil, truncated(err)
	}
	size := binary.LittleEndian.Uint32(b[1:])
	if size > maxFrame {
		return 0, nil, errDamaged
	}
	// The payload grows by the bytes that exist, not by the claimed size.
	for step := min(size, 8<<20); len(payload) < int(size); step = min(uint32(len(payload)), size-uint32(len(payload))) {
		read := len(payload)
		payload = append(payload, make([]byte, step)...)
		if _, err := io.ReadFull(f.r, payload[read:]); err != nil {
			return 0, nil, truncated(err)
		}
	}
	crc := crc32.Update(crc32.Checksum(b[:1], castagnoli), castagnoli, payload)
	if crc != binary.LittleEndian.Uint32(b[5:]) {
		return 0, nil, errDamaged
	}
	return b[0], payload, nil
}

var errDamaged = errors.New("the snapshot is damaged: a checksum is wrong")

func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the snapshot is cut short")
	}
	return err
}
