// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Bounds of an archive's table of contents.
const (
	maxEntries   = 20_000
	maxEntryName = 512 // bytes; longer names are of no image
	maxLinks     = 4   // from one entry to the next
)

// An Archive is a Source in a tar archive: an OCI image layout, or what `docker save` writes. A task may
// have written it. Nothing of it is unpacked before its digest is known.
type Archive struct {
	file    io.ReaderAt
	entries map[string]entry
	want    Reference         // the image's name
	layers  map[v1.Hash]entry // of an archive without a layout
}

// An entry is a place in the archive, or a link to another entry.
type entry struct {
	at, size int64
	link     string
}

// OpenArchive reads the table of contents of an archive. The caller keeps ownership of the file.
func OpenArchive(ctx context.Context, f *os.File, want Reference) (*Archive, error) {
	a := &Archive{file: f, entries: map[string]entry{}, want: want}
	var start [4]byte
	if n, err := f.ReadAt(start[:], 0); err != nil && err != io.EOF {
		return nil, err
	} else if isCompressed(start[:n]) {
		return nil, fatal("the archive is compressed: uncompress it first, for instance with gunzip or zstd -d")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if err := a.scan(ctx, f); err != nil {
		return nil, err
	}
	return a, nil
}

// scan notes where entries lie. Package tar skips their content without reading it.
func (a *Archive) scan(ctx context.Context, f *os.File) error {
	r := tar.NewReader(f)
	for n := 0; ; n++ {
		h, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fatal("the archive is damaged, or is no tar archive: %v", err)
		case n >= maxEntries:
			return fatal("the archive has more than %d entries: it is no archive of an image", maxEntries)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		name := path.Clean(h.Name)
		if len(name) > maxEntryName || len(h.Linkname) > maxEntryName {
			continue
		}
		switch h.Typeflag {
		case tar.TypeReg:
			if h.PAXRecords["GNU.sparse.major"] != "" || h.PAXRecords["GNU.sparse.name"] != "" || h.PAXRecords["GNU.sparse.map"] != "" {
				continue // its content is not in one piece
			}
			at, err := f.Seek(0, io.SeekCurrent)
			if err != nil {
				return err
			}
			a.entries[name] = entry{at: at, size: h.Size}
		case tar.TypeSymlink: // docker save writes a repeated layer once
			a.entries[name] = entry{link: path.Join(path.Dir(name), h.Linkname)}
		case tar.TypeLink:
			a.entries[name] = entry{link: path.Clean(h.Linkname)}
		}
	}
}

// find returns the entry of a name, behind links of the archive.
func (a *Archive) find(name string) (entry, bool) {
	name = path.Clean(name)
	for range maxLinks {
		e, ok := a.entries[name]
		if !ok || e.link == "" {
			return e, ok
		}
		name = e.link
	}
	return entry{}, false
}

func (a *Archive) open(e entry) io.ReadCloser {
	return io.NopCloser(io.NewSectionReader(a.file, e.at, e.size))
}

// text reads a small entry.
func (a *Archive) text(name string, limit int64) ([]byte, error) {
	e, ok := a.find(name)
	switch {
	case !ok:
		return nil, fatal("the archive has no file %.200q, which its table names: write it again", name)
	case e.size > limit:
		return nil, fatal("the file %.200q of the archive has more than %d bytes", name, limit)
	}
	text := make([]byte, e.size)
	if _, err := a.file.ReadAt(text, e.at); err != nil && !(errors.Is(err, io.EOF) && e.size == 0) {
		return nil, fatal("the archive ends in the file %.200q: copy it again", name)
	}
	return text, nil
}

// Manifest implements Source. The id "" means the image with the name that OpenArchive received.
func (a *Archive) Manifest(ctx context.Context, id string) (Manifest, error) {
	if id != "" {
		h, err := v1.NewHash(id)
		if err != nil {
			return Manifest{}, fatal("%.80q is not a digest", id)
		}
		text, err := a.text(blobPath(h), maxManifest)
		if err != nil {
			return Manifest{}, err
		}
		return checkManifest(text, "", id)
	}
	if _, ok := a.find("index.json"); ok {
		return a.fromIndex()
	}
	if _, ok := a.find("manifest.json"); ok {
		return a.fromTable(ctx)
	}
	return Manifest{}, fatal("the archive has neither index.json nor manifest.json: write it with docker save, podman save or skopeo copy")
}

// Blob implements Source.
func (a *Archive) Blob(_ context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	e, ok := a.layers[d.Digest]
	if !ok {
		if e, ok = a.find(blobPath(d.Digest)); !ok {
			return nil, fatal("the archive has no blob %s: write it again", d.Digest)
		}
	}
	if e.size != d.Size {
		return nil, fatal("the blob %s of the archive has %d bytes, not %d: write it again", d.Digest, e.size, d.Size)
	}
	return a.open(e), nil
}

// noSuchImage returns the error of an archive whose images have other names.
func (a *Archive) noSuchImage(names []string) error {
	if len(names) > 10 {
		names = append(names[:10:10], fmt.Sprintf("and %d more", len(names)-10))
	}
	list := strings.Join(names, ", ")
	if list == "" {
		list = "several without a name"
	}
	return fatal("the archive has no image %s; it has: %.1000s", a.want, list)
}

// means reports whether a name in the archive is the wanted one.
func (a *Archive) means(name string) bool {
	ref, err := ParseReference(name)
	return err == nil && ref.String() == a.want.String()
}
