// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/bzip2"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/reeve-run/reeve/api"
)

// maxWindow bounds the memory of a zstd decoder, in bytes.
const maxWindow = 64 << 20

// A compressed file may unpack to this many times its size, once it is larger than freeSize.
const (
	maxRatio = 500
	freeSize = 64 << 20
)

// unpack makes the result of the downloaded file below filesName.
func unpack(root *os.Root, r *Request, size int64) error {
	files, err := root.OpenRoot(filesName)
	if err != nil {
		return err
	}
	defer files.Close()
	s := r.Source
	if s.Archive == "" {
		return root.Rename(blobName, filesName+"/"+plainName(s))
	}
	blob, err := root.Open(blobName)
	if err != nil {
		return err
	}
	defer blob.Close()
	t := &tree{root: files, limits: r.Limits, subdir: s.Subdir}
	t.limits.Unpacked = min(t.limits.Unpacked, max(freeSize, size*maxRatio))
	if err := unpackInto(t, s, blob, size); err != nil {
		return fmt.Errorf("unpack the %s archive: %w", s.Archive, err)
	}
	if err := t.finish(); err != nil {
		return err
	}
	if s.Mode == api.ArtifactModeFile && s.IsTree() {
		return onlyFile(files)
	}
	return nil
}

// plainName returns the name of a single file in the result.
func plainName(s *api.ArtifactSource) string {
	if s.Mode == api.ArtifactModeFile || s.Filename == "" {
		return "file"
	}
	return s.Filename
}

func unpackInto(t *tree, s *api.ArtifactSource, blob *os.File, size int64) error {
	if s.Archive == "zip" {
		return unpackZip(t, blob, size)
	}
	content, done, err := decompress(s.Archive, blob)
	if err != nil {
		return err
	}
	defer done()
	if s.IsTree() {
		return unpackTar(t, content)
	}
	name := plainName(s)
	if s.Mode != api.ArtifactModeFile {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return t.addFile(name, 0o644, content)
}

// decompress returns the content of a file with the given extension.
func decompress(ext string, r io.Reader) (content io.Reader, done func(), err error) {
	buffered := bufio.NewReaderSize(r, 256<<10)
	switch ext {
	case "gz", "tar.gz", "tgz":
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, nil, err
		}
		return z, func() {}, nil
	case "bz2", "tar.bz2", "tbz2":
		return bzip2.NewReader(buffered), func() {}, nil
	case "xz", "tar.xz", "txz":
		x, err := xz.NewReader(buffered)
		if err != nil {
			return nil, nil, err
		}
		return x, func() {}, nil
	case "zst", "tar.zst", "tar.zstd", "tzst":
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return buffered, func() {}, nil
}

// unpackTar unpacks a tar archive. It leaves out devices and pipes.
func unpackTar(t *tree, r io.Reader) error {
	// Headers that describe no file count, too.
	in := tar.NewReader(&budgeted{r, t.limits.Unpacked + t.limits.Files*4096, t})
	for {
		h, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		mode := h.FileInfo().Mode()
		switch h.Typeflag {
		case tar.TypeDir:
			err = t.addDir(h.Name, mode)
		case tar.TypeReg, tar.TypeGNUSparse:
			err = t.addFile(h.Name, mode, in)
		case tar.TypeSymlink:
			err = t.addLink(h.Name, h.Linkname)
		case tar.TypeLink:
			err = t.addHardLink(h.Name, h.Linkname)
		}
		if err != nil {
			return err
		}
	}
}

// budgeted ends an archive that decompresses to too much.
type budgeted struct {
	r    io.Reader
	left int64
	t    *tree
}

func (b *budgeted) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.t.tooLarge()
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// unpackZip unpacks a zip archive. The sizes that it declares are not believed.
func unpackZip(t *tree, blob io.ReaderAt, size int64) error {
	z, err := zip.NewReader(blob, size)
	if err != nil {
		return err
	}
	for _, f := range z.File {
		mode := f.Mode()
		switch {
		case mode.IsDir():
			err = t.addDir(f.Name, mode)
		case mode&os.ModeSymlink != 0:
			err = unpackZipLink(t, f)
		case mode.IsRegular():
			err = unpackZipFile(t, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unpackZipFile(t *tree, f *zip.File) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	mode := f.Mode()
	if mode.Perm() == 0 { // written on a system without modes
		mode = 0o644
	}
	return t.addFile(f.Name, mode, in)
}

func unpackZipLink(t *tree, f *zip.File) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	target, err := io.ReadAll(io.LimitReader(in, maxLink+1))
	if err != nil {
		return err
	}
	return t.addLink(f.Name, string(target))
}

// onlyFile reduces the result to its single file, which mode "file" places at the destination.
func onlyFile(files *os.Root) error {
	var found []string
	err := walkFiles(files, ".", &found)
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return &Failure{Text: fmt.Sprintf("the archive holds %d files, and mode \"file\" takes an archive of one", len(found)), Hint: "use mode \"any\", or name the file after // in the source"}
	}
	if found[0] == "file" {
		return nil
	}
	if err := files.Rename(found[0], ".only"); err != nil {
		return err
	}
	top, _, _ := strings.Cut(found[0], "/")
	if err := files.RemoveAll(top); err != nil {
		return err
	}
	return files.Rename(".only", "file")
}

// walkFiles collects at most two files.
func walkFiles(root *os.Root, dir string, found *[]string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	entries, err := d.ReadDir(-1)
	d.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case len(*found) > 1:
			return nil
		case e.IsDir():
			if err := walkFiles(root, name, found); err != nil {
				return err
			}
		case e.Type().IsRegular():
			*found = append(*found, name)
		}
	}
	return nil
}
