// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodeproto

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/allocset"
)

// Protocol is the ALPN protocol of an agent's connection to a server.
const Protocol = "reeve-node/1"

// A vtMessage is a generated message.
type vtMessage interface {
	SizeVT() int
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
}

// AppendMessage appends a message with its length.
func AppendMessage(b []byte, m vtMessage) ([]byte, error) {
	size := m.SizeVT()
	b = binary.AppendUvarint(b, uint64(size))
	start := len(b)
	if cap(b)-start < size {
		b = append(make([]byte, 0, start+size), b...)
	}
	b = b[:start+size]
	_, err := m.MarshalToSizedBufferVT(b[start:])
	return b, err
}

// AppendToNode appends a message of a node's stream, as ToNode, with its length.
func AppendToNode(b []byte, slot uint32, m *Message) ([]byte, error) {
	return AppendMessage(b, &ToNode{Slot: slot, Allocations: m.encode()})
}

// keepMessage is the largest buffer that a reader keeps between two messages.
const keepMessage = 512

// growth bounds the memory that a reader allocates before the bytes arrive.
const growth = 64 << 10

// A Reader reads messages from a connection. It reads only the bytes of one message, so it needs
// no buffer while the connection is idle.
type Reader struct {
	r    io.Reader
	most int // size of the largest message
	one  [1]byte
	kept []byte
}

// NewReader returns a reader of messages of at most so many bytes.
func NewReader(r io.Reader, most int) *Reader { return &Reader{r: r, most: most} }

// ReadByte implements io.ByteReader.
func (r *Reader) ReadByte() (byte, error) {
	_, err := io.ReadFull(r.r, r.one[:])
	return r.one[0], err
}

// Next reads the next message into m, which must be empty. io.EOF means that the connection
// ended between two messages.
func (r *Reader) Next(m vtMessage) error {
	size, err := binary.ReadUvarint(r)
	if err != nil {
		return err
	}
	if size > uint64(r.most) {
		return fmt.Errorf("read a message of %d bytes: it is larger than %d", size, r.most)
	}
	body, err := r.body(int(size))
	if err != nil {
		return fmt.Errorf("the connection ends inside a message: %w", err)
	}
	return m.UnmarshalVT(body)
}

// body reads the bytes of a message. They are valid until the next call.
func (r *Reader) body(size int) ([]byte, error) {
	if size <= keepMessage {
		if cap(r.kept) < size {
			r.kept = make([]byte, max(size, 16))
		}
		_, err := io.ReadFull(r.r, r.kept[:size])
		return r.kept[:size], unexpected(err)
	}
	body := make([]byte, 0, min(size, growth))
	for len(body) < size {
		n := len(body)
		next := min(size-n, max(n, growth))
		body = append(body, make([]byte, next)...)
		if _, err := io.ReadFull(r.r, body[n:]); err != nil {
			return nil, unexpected(err)
		}
	}
	return body, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Decode returns the message in the form of package api.
func (m *NodeAllocations) Decode() (*api.NodeAllocations, error) { return m.decode() }

// FailureOf returns an error in the form of messages; nil for nil.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	var e *api.Error
	if !errors.As(err, &e) {
		return &Failure{Code: string(api.CodeInternal), Message: err.Error()}
	}
	return &Failure{Code: string(e.Code), Message: e.Error()}
}

// AsError returns the error that a message carries; nil for nil.
func (f *Failure) AsError() error {
	if f == nil {
		return nil
	}
	return api.Errorf(api.ErrorCode(f.Code), "%s", f.Message)
}

// PackID returns the id of a node in the form of messages: a UUID takes 16 bytes.
func PackID(id string) []byte {
	if len(id) == packedSize {
		return append([]byte{0}, id...) // it would pass for a packed UUID
	}
	return allocset.PackID(id)
}

// packedSize is the size of a packed UUID.
const packedSize = 16

// UnpackID is the inverse of PackID.
func UnpackID(b []byte) string {
	if len(b) == packedSize+1 && b[0] == 0 {
		return string(b[1:])
	}
	return allocset.UnpackID(b)
}

// agentDigestSize is the number of bytes that tell the agents of one node apart.
const agentDigestSize = 8

// AgentDigest returns a short form of the mark of an agent; "" for "".
func AgentDigest(mark string) string {
	if mark == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(mark))
	return string(sum[:agentDigestSize])
}
