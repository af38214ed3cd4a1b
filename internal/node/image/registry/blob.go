// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// progress is the number of bytes after which earlier failures of a blob no longer count.
const progress = 1 << 20

// Blob implements Source. The reader continues after a failure where it was.
func (r *Repository) Blob(ctx context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	if d.Size < 0 {
		return nil, Explain(r.ref, fatal("the image names a blob with the size %d", d.Size))
	}
	return &blob{ctx: context.WithValue(ctx, blobKey{}, true), repository: r, Descriptor: d}, nil
}

// A blob reads a blob over as many connections as necessary.
type blob struct {
	v1.Descriptor
	ctx        context.Context
	repository *Repository
	body       io.ReadCloser // nil: not connected
	offset     int64         // bytes read
	failedAt   int64         // offset of the last failure
	tries      attempts
}

func (b *blob) Read(p []byte) (int, error) {
	for {
		if b.offset == b.Size {
			return 0, io.EOF
		}
		n, err := b.read(p)
		if n > 0 || err == nil {
			return n, nil // a failure returns with the next call, if it lasts
		}
		b.disconnect()
		if b.offset-b.failedAt >= progress {
			b.tries = attempts{}
		}
		b.failedAt = b.offset
		if err := b.tries.pause(b.ctx, err); err != nil {
			return 0, Explain(b.repository.ref, fmt.Errorf("read the blob %s after %d of %d bytes: %w", b.Digest, b.offset, b.Size, err))
		}
	}
}

func (b *blob) read(p []byte) (int, error) {
	if b.body == nil {
		if err := b.open(); err != nil {
			return 0, err
		}
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.Size-b.offset)])
	b.offset += int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the blob has more
	}
	return n, err
}

// open requests the rest of the blob.
func (b *blob) open() error {
	header := http.Header{}
	if b.offset > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", b.offset, b.Size-1))
	}
	resp, err := b.repository.get(b.ctx, "/blobs/"+b.Digest.String(), header)
	if err != nil {
		return err
	}
	skip := b.offset
	if resp.StatusCode == http.StatusPartialContent {
		if !strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", b.offset)) {
			resp.Body.Close()
			return fatal("the registry answered with another part of the blob (%.40q) than requested", resp.Header.Get("Content-Range"))
		}
		skip = 0
	}
	if _, err := io.CopyN(io.Discard, resp.Body, skip); err != nil {
		resp.Body.Close()
		return err
	}
	b.body = resp.Body
	return nil
}

func (b *blob) disconnect() {
	if b.body != nil {
		b.body.Close()
		b.body = nil
	}
}

// Close ends the connection.
func (b *blob) Close() error {
	b.disconnect()
	return nil
}

func retryAfter(err error) time.Duration {
	var s *statusError
	if errors.As(err, &s) {
		return s.retryAfter
	}
	return 0
}

// ReadBlob reads a small blob whole, and verifies its digest.
func ReadBlob(ctx context.Context, s Source, d v1.Descriptor, limit int64) ([]byte, error) {
	if d.Size < 0 || d.Size > limit {
		return nil, fatal("the image's configuration has %d bytes, more than %d", d.Size, limit)
	}
	r, err := s.Blob(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if got := hashOf(text); got != d.Digest {
		return nil, fatal("the digest of the image's configuration is %s, not %s: the registry or a proxy changed it", got, d.Digest)
	}
	return text, nil
}

func hashOf(text []byte) v1.Hash {
	h, _, _ := v1.SHA256(bytes.NewReader(text)) // memory has no read errors
	return h
}
