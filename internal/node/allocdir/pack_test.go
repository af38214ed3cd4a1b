// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func openTree(t *testing.T) *Tree {
	t.Helper()
	tree, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Close)
	return tree
}

func TestWhatIsPackedUnpacksTheSame(t *testing.T) {
	here, there := openTree(t), openTree(t)
	if err := here.Build("old", "web", Layout{}); err != nil {
		t.Fatal(err)
	}
	local := here.Task("old", "web").Local
	for name, mode := range map[string]fs.FileMode{"db/rows": 0o640, "run.sh": 0o755, "empty": 0o600} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(local, name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(local, name), []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("db/rows", filepath.Join(local, "current")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(here.Root("old"), "alloc", "data", "shared"), []byte("all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(here.LogDir("old"), "web.stdout.0"), []byte("said"), 0o600); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := here.Pack("old", []string{"web", "never"}, &archive); err != nil {
		t.Fatal(err)
	}
	whole := archive.Bytes()
	if err := there.Unpack("new", []string{"web"}, bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	if err := there.Build("new", "web", Layout{}); err != nil {
		t.Fatal(err)
	}
	local = there.Task("new", "web").Local
	for name, mode := range map[string]fs.FileMode{"db/rows": 0o640, "run.sh": 0o755, "empty": 0o600} {
		got, err := os.ReadFile(filepath.Join(local, name))
		info, statErr := os.Stat(filepath.Join(local, name))
		if err != nil || statErr != nil || string(got) != name || info.Mode().Perm() != mode {
			t.Errorf("%s: %q, %v, %v; want mode %v", name, got, info, err, mode)
		}
	}
	if link, err := os.Readlink(filepath.Join(local, "current")); link != "db/rows" {
		t.Errorf("the link leads to %q, %v", link, err)
	}
	if got, err := os.ReadFile(filepath.Join(there.Root("new"), "alloc", "data", "shared")); string(got) != "all" {
		t.Errorf("alloc/data: %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(there.LogDir("new"), "web.stdout.0")); err == nil {
		t.Error("output was packed, too")
	}
	if err := there.Unpack("half", []string{"web"}, bytes.NewReader(whole[:len(whole)/2])); err == nil {
		t.Error("half an archive was unpacked")
	}
	if _, err := os.Stat(there.Root("half")); err == nil {
		t.Error("something of half an archive stayed")
	}
}

// TestAnArchiveCannotWriteElsewhere unpacks names and links that lead out.
func TestAnArchiveCannotWriteElsewhere(t *testing.T) {
	tree := openTree(t)
	outside := t.TempDir()
	for _, entries := range [][]*tar.Header{
		{{Name: "../escaped", Typeflag: tar.TypeReg}, {Name: "web/local/../../../escaped", Typeflag: tar.TypeReg}, {Name: "alloc/logs/x", Typeflag: tar.TypeReg}},
		{{Name: "web/local/", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "web/local/out", Typeflag: tar.TypeSymlink, Linkname: outside}, {Name: "web/local/out/escaped", Typeflag: tar.TypeReg}},
	} {
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		for _, h := range entries {
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		tree.Unpack("new", []string{"web"}, &archive) // refused, or left out
		for _, place := range []string{outside, tree.Base(), filepath.Dir(tree.Base())} {
			if _, err := os.Lstat(filepath.Join(place, "escaped")); err == nil {
				t.Errorf("a file was written to %s", place)
			}
		}
	}
}

func TestTreesThatAreTooDeepAreNotPacked(t *testing.T) {
	d := tree(t)
	if err := d.Build("one", "web", Layout{}); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(d.Task("one", "web").Local, strings.Repeat("d/", 2*maxNested))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Pack("one", []string{"web"}, io.Discard); err == nil || !strings.Contains(err.Error(), "nested more than 256 deep") {
		t.Errorf("error = %v", err)
	}
}
