// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package layer

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

func digest(t testing.TB, b []byte) v1.Hash {
	t.Helper()
	h, _, err := v1.SHA256(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstandard(t testing.TB, b []byte, o ...zstd.EOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, o...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (p *place) unpack(t testing.TB, blob []byte, blobDigest, diffID v1.Hash, l Limits) error {
	t.Helper()
	d, err := beneath.Open(p.root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, err = Unpack(d, bytes.NewReader(blob), blobDigest, diffID, NewBudget(l))
	return err
}

func TestCompressionIsRecognized(t *testing.T) {
	plain := archive(t, file("a", "1"))
	for name, blob := range map[string][]byte{
		"none": plain, "gzip": gzipped(t, plain), "zstd": zstandard(t, plain),
		"two gzip members": append(gzipped(t, plain[:100]), gzipped(t, plain[100:])...),
	} {
		p := newPlace(t)
		if err := p.unpack(t, blob, digest(t, blob), digest(t, plain), DefaultLimits); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := p.tree(t); got != "-rw-r--r-- a \"1\"\n" {
			t.Errorf("%s: tree %q", name, got)
		}
	}
}

func TestBothDigestsCoverAllBytes(t *testing.T) {
	plain := archive(t, file("a", "1"))
	longer := append(bytes.Clone(plain), "after the end"...)
	blob := gzipped(t, plain)
	other := digest(t, []byte("other"))
	var wrong *DigestError
	for name, c := range map[string]struct {
		blob           []byte
		digest, diffID v1.Hash
		of             string
	}{
		"wrong blob":             {blob, other, digest(t, plain), "the layer's blob"},
		"wrong archive":          {blob, digest(t, blob), other, "the layer's unpacked archive"},
		"more after the archive": {gzipped(t, longer), digest(t, gzipped(t, longer)), digest(t, plain), "the layer's unpacked archive"},
		"plain, with more after": {longer, digest(t, plain), digest(t, plain), "the layer's blob"},
	} {
		err := newPlace(t).unpack(t, c.blob, c.digest, c.diffID, DefaultLimits)
		if !errors.As(err, &wrong) || wrong.Of != c.of {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	if err := newPlace(t).unpack(t, longer, digest(t, longer), digest(t, longer), DefaultLimits); err != nil {
		t.Errorf("bytes after the archive that the digests cover: %v", err)
	}
	if err := newPlace(t).unpack(t, blob, v1.Hash{Algorithm: "md5"}, digest(t, plain), DefaultLimits); err == nil {
		t.Error("a weak digest was accepted")
	}
	if err := newPlace(t).unpack(t, blob[:len(blob)-4], digest(t, blob), digest(t, plain), DefaultLimits); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a truncated blob: error = %v", err)
	}
}

func TestBombsEndAtTheLimit(t *testing.T) {
	zeros := make([]byte, 8<<20)
	small := Limits{Bytes: 1 << 20, Entries: 10, Path: 100, Names: 1000}
	var limit *LimitError
	// Behind the archive's end marker no entry counts, and the bytes still do.
	for name, blob := range map[string][]byte{"gzip": gzipped(t, zeros), "zstd": zstandard(t, zeros)} {
		if err := newPlace(t).unpack(t, blob, digest(t, blob), digest(t, zeros), small); !errors.As(err, &limit) {
			t.Errorf("%s: error = %v, want a limit", name, err)
		}
	}
	noise := make([]byte, 80<<20)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	blob := zstandard(t, noise, zstd.WithWindowSize(64<<20))
	if err := newPlace(t).unpack(t, blob, digest(t, blob), digest(t, noise), DefaultLimits); !errors.Is(err, zstd.ErrWindowSizeExceeded) {
		t.Errorf("a window of 64 MiB: error = %v", err)
	}
}

// FuzzApply applies arbitrary archives: none may reach files of the host or create devices.
func FuzzApply(f *testing.F) {
	f.Add(archive(f, dir("a"), symlink("a/up", "../.."), file("a/up/canary", "theirs"), hardLink("b", "a/up")))
	f.Add(archive(f, file("a/.wh.b", ""), file(".wh..wh..opq", ""), dir("a/b"), file("a", "")))
	f.Add(append(archivePAX("SCHILY.xattr.user.a=b", "GNU.sparse.major=1", "GNU.sparse.minor=0", "path=../x"), archive(f, file("x", "y"))...))
	f.Fuzz(func(t *testing.T, tarball []byte) {
		p := newPlace(t)
		size, err := p.apply(t, tarball, Limits{Bytes: 1 << 20, Entries: 100, Path: 200, Names: 2000})
		p.intact(t)
		if err == nil && (size.Bytes > 1<<20 || size.Entries > 100) {
			t.Errorf("size %+v is over the limits", size)
		}
		filepath.WalkDir(p.root, func(path string, _ fs.DirEntry, _ error) error {
			info, err := os.Lstat(path)
			if err == nil && info.Mode()&fs.ModeDevice != 0 && info.Sys().(*syscall.Stat_t).Rdev != 0 {
				t.Errorf("%s is a device", path)
			}
			return nil
		})
	})
}

// TestRandomArchivesStayInside applies sequences of valid entries with few names, so that they
// collide often.
func TestRandomArchivesStayInside(t *testing.T) {
	names := []string{"a", "b", "a/a", "a/b", "b/a", "a/a/a", "../canary", "/", "a/../b", ".wh.a", "a/.wh.b", "a/.wh..wh..opq", "a/b/canary"}
	targets := append([]string{"..", "/", ".", "../..", "/proc/self/cwd", "../canary"}, names...)
	kinds := []byte{tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeLink, tar.TypeFifo, tar.TypeChar}
	r := rand.New(rand.NewPCG(1, 2))
	unpacked := 0
	for range 2000 {
		var entries []entry
		for range 1 + r.IntN(8) {
			e := entry{Header: tar.Header{Typeflag: kinds[r.IntN(len(kinds))], Name: names[r.IntN(len(names))], Mode: r.Int64N(0o10000), ModTime: stamp}}
			if e.Typeflag == tar.TypeSymlink || e.Typeflag == tar.TypeLink {
				e.Linkname = targets[r.IntN(len(targets))]
			}
			if strings.HasSuffix(e.Name, "/") && e.Typeflag != tar.TypeDir {
				e.Name = "."
			}
			entries = append(entries, e)
		}
		p := newPlace(t)
		if _, err := p.apply(t, archive(t, entries...), DefaultLimits); err == nil {
			unpacked++
		}
		p.intact(t)
		if t.Failed() {
			t.Fatalf("after %+v", entries)
		}
		os.RemoveAll(p.above)
	}
	if unpacked < 200 {
		t.Errorf("only %d archives were valid: the test tries too little", unpacked)
	}
}
