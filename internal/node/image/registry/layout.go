// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// A Layout is a Source in a directory: an OCI image layout. A task may have written it.
type Layout struct{ root *os.Root }

// OpenLayout opens a layout below a directory.
func OpenLayout(root *os.Root) *Layout { return &Layout{root} }

// Manifest implements Source. The id "" means the layout's index.
func (l *Layout) Manifest(_ context.Context, id string) (Manifest, error) {
	path := "index.json"
	if id != "" {
		h, err := v1.NewHash(id)
		if err != nil {
			return Manifest{}, fatal("%.80q is not a digest: images of a layout have no tags", id)
		}
		path = blobPath(h)
	}
	f, _, err := beneath.File(l.root, path)
	if err != nil {
		return Manifest{}, fmt.Errorf("read the image layout %s: %w", l.root.Name(), err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return Manifest{}, fmt.Errorf("read the image layout %s: %w", l.root.Name(), err)
	}
	return checkManifest(text, "", id)
}

// Blob implements Source.
func (l *Layout) Blob(_ context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	f, info, err := beneath.File(l.root, blobPath(d.Digest))
	if err != nil {
		return nil, fmt.Errorf("read the image layout %s: %w", l.root.Name(), err)
	}
	if info.Size() != d.Size {
		f.Close()
		return nil, fmt.Errorf("read the image layout %s: the blob %s has %d bytes, not %d: write the layout again", l.root.Name(), d.Digest, info.Size(), d.Size)
	}
	return f, nil
}

func blobPath(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
