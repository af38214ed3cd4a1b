// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package layer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// maxWindow bounds the memory of one zstd decoder, in bytes. Encoders use at most 8 MiB unless
// a user requests a long window.
const maxWindow = 32 << 20

// A DigestError reports content that differs from its digest.
type DigestError struct {
	Of        string // the content
	Want, Got v1.Hash
}

func (e *DigestError) Error() string {
	return fmt.Sprintf("the digest of %s is %s, but the image names %s: the registry or a proxy changed it, or the image was built wrongly; push the image again", e.Of, e.Got, e.Want)
}

// Unpack unpacks a compressed layer below root as Apply does, and verifies the digest of the
// blob and of the archive in it. It reads the blob to its end. The caller must not use the
// directory after an error.
func Unpack(root *beneath.Dir, blob io.Reader, digest, diffID v1.Hash, budget *Budget) (Size, error) {
	for _, h := range []v1.Hash{digest, diffID} {
		if h.Algorithm != "sha256" {
			return Size{}, fmt.Errorf("the digest %s is not a SHA-256: only those are supported", h)
		}
	}
	raw := newHashing(blob)
	buffered := bufio.NewReaderSize(raw, 256<<10)
	archive, done, err := decompress(buffered)
	if err != nil {
		return Size{}, err
	}
	defer done()
	l := budget.limits
	bounded := &boundedReader{r: archive, left: l.Bytes + l.Entries*block, limit: l.Bytes}
	content := newHashing(bounded)
	size, err := Apply(root, content, budget)
	if err != nil {
		return size, err
	}
	// Both digests cover what follows the archive's end marker.
	if _, err := io.Copy(io.Discard, content); err != nil {
		return size, fmt.Errorf("read the layer's end: %w", err)
	}
	if _, err := io.Copy(io.Discard, buffered); err != nil {
		return size, fmt.Errorf("read the layer's end: %w", err)
	}
	if got := raw.hash(); got != digest {
		return size, &DigestError{"the layer's blob", digest, got}
	}
	if got := content.hash(); got != diffID {
		return size, &DigestError{"the layer's unpacked archive", diffID, got}
	}
	return size, nil
}

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// decompress recognizes the compression by the first bytes: media types are often wrong.
func decompress(r *bufio.Reader) (archive io.Reader, done func(), err error) {
	start, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(start, gzipMagic):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, fmt.Errorf("read the layer's gzip header: %w", err)
		}
		return z, func() {}, nil
	case bytes.HasPrefix(start, zstdMagic):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("read the layer's zstd header: %w", err)
		}
		return z, z.Close, nil
	}
	return r, func() {}, nil
}

// hashing computes the digest of the bytes that pass through it.
type hashing struct {
	r io.Reader
	h hash.Hash
}

func newHashing(r io.Reader) *hashing { return &hashing{r, sha256.New()} }

func (h *hashing) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.h.Write(p[:n])
	return n, err
}

func (h *hashing) hash() v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(h.h.Sum(nil))}
}

// boundedReader ends an archive that decompresses to more than the budget allows.
type boundedReader struct {
	r           io.Reader
	left, limit int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &LimitError{b.limit, "unpacked bytes", "unpacked bytes"}
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
