// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package layer

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

var root = os.Geteuid() == 0

// stamp is the time of all entries in these tests.
var stamp = time.Unix(1_700_000_000, 0)

// An entry is one header of an archive with its content.
type entry struct {
	tar.Header
	content string
}

func file(name, content string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: stamp}, content}
}

func dir(name string) entry {
	return entry{Header: tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755, ModTime: stamp}}
}

func symlink(name, to string) entry {
	return entry{Header: tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to, Mode: 0o777, ModTime: stamp}}
}

func hardLink(name, to string) entry {
	return entry{Header: tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: to, ModTime: stamp}}
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A place is a layer's root next to files of the host.
type place struct{ above, root string }

func newPlace(t testing.TB) *place {
	t.Helper()
	p := &place{above: t.TempDir()}
	p.root = filepath.Join(p.above, "root")
	if err := errors.Join(os.Mkdir(p.root, 0o755), os.WriteFile(filepath.Join(p.above, "canary"), []byte("mine"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return p
}

// intact fails the test if the host's files are not as before.
func (p *place) intact(t testing.TB) {
	t.Helper()
	entries, err := os.ReadDir(p.above)
	if err != nil || len(entries) != 2 {
		t.Errorf("the host's directory holds %v (%v)", entries, err)
	}
	info, err := os.Lstat(filepath.Join(p.above, "canary"))
	if got, _ := os.ReadFile(filepath.Join(p.above, "canary")); err != nil || string(got) != "mine" || info.Mode() != 0o600 || info.Sys().(*syscall.Stat_t).Nlink != 1 {
		t.Errorf("the host's file is %v and holds %q (%v)", info, got, err)
	}
}

func (p *place) apply(t testing.TB, tarball []byte, l Limits) (Size, error) {
	t.Helper()
	d, err := beneath.Open(p.root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return Apply(d, bytes.NewReader(tarball), NewBudget(l))
}

// tree lists the layer: a line per entry with its type, permissions and content.
func (p *place) tree(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(p.root, path)
		if rel == "." {
			rel = "/"
		}
		text := ""
		switch st := info.Sys().(*syscall.Stat_t); {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = fmt.Sprintf(" %q", content)
			if st.Nlink > 1 {
				text += fmt.Sprintf(" links=%d", st.Nlink)
			}
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			text = " -> " + to
		case info.Mode()&fs.ModeCharDevice != 0:
			text = fmt.Sprintf(" device %d", st.Rdev)
		case d.IsDir():
			u := unpacker{privileged: root}
			if value := xattr(path, u.opaqueAttribute()); value != "" {
				text = " opaque=" + value
			}
		}
		if rel != "/" || text != "" {
			fmt.Fprintf(&b, "%s %s%s\n", info.Mode(), rel, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func xattr(path, name string) string {
	value := make([]byte, 1024)
	n, err := unix.Lgetxattr(path, name, value)
	if err != nil {
		return ""
	}
	return string(value[:n])
}

func TestLayersBecomeTreesForOverlayfs(t *testing.T) {
	setuid := file("bin/su", "su")
	setuid.Mode = 0o4755
	fifo := entry{Header: tar.Header{Typeflag: tar.TypeFifo, Name: "pipe", Mode: 0o622, ModTime: stamp}}
	device := entry{Header: tar.Header{Typeflag: tar.TypeBlock, Name: "sda", Mode: 0o666, Devmajor: 8}}
	char := entry{Header: tar.Header{Typeflag: tar.TypeChar, Name: "mem", Mode: 0o666, Devmajor: 1, Devminor: 1}}
	for name, c := range map[string]struct {
		entries []entry
		want    string
	}{
		"plain": {[]entry{dir("./"), dir("bin/"), setuid, file("bin/sh", "sh"), symlink("sh", "/bin/sh"), hardLink("bin/ash", "bin/sh"), fifo},
			"drwxr-xr-x bin\n-rw-r--r-- bin/ash \"sh\" links=2\n"},
		"absolute names and missing parents": {[]entry{file("/a/b/c", "x"), file("./a//d", "y")},
			"drwxr-xr-x a\ndrwxr-xr-x a/b\n-rw-r--r-- a/b/c \"x\"\n-rw-r--r-- a/d \"y\"\n"},
		"devices are skipped":             {[]entry{device, char, file("a", "")}, "-rw-r--r-- a \"\"\n"},
		"whiteout":                        {[]entry{file("a/.wh.b", ""), file(".wh.c", "")}, "drwxr-xr-x a\nDc--------- a/b device 0\nDc--------- c device 0\n"},
		"opaque directory":                {[]entry{dir("a"), file("a/.wh..wh..opq", ""), file("a/b", "1")}, "drwxr-xr-x a opaque=y\n-rw-r--r-- a/b \"1\"\n"},
		"opaque root":                     {[]entry{file(".wh..wh..opq", "")}, "drwxr-xr-x / opaque=y\n"},
		"marks of AUFS":                   {[]entry{file(".wh..wh.plnk", ""), dir(".wh..wh.aufs")}, ""},
		"whiteout, then a file":           {[]entry{file(".wh.a", ""), file("a", "1")}, "-rw-r--r-- a \"1\"\n"},
		"a file, then its whiteout":       {[]entry{file("a", "1"), file(".wh.a", "")}, "-rw-r--r-- a \"1\"\n"},
		"whiteout, then a directory":      {[]entry{file(".wh.a", ""), dir("a"), file("a/b", "")}, "drwxr-xr-x a opaque=y\n-rw-r--r-- a/b \"\"\n"},
		"whiteout, then a missing parent": {[]entry{file(".wh.a", ""), file("a/b", "")}, "drwxr-xr-x a opaque=y\n-rw-r--r-- a/b \"\"\n"},
		"a directory, then its whiteout":  {[]entry{dir("a"), file("a/b", ""), file(".wh.a", "")}, "drwxr-xr-x a opaque=y\n-rw-r--r-- a/b \"\"\n"},
		"duplicate files":                 {[]entry{file("a", "1"), file("a", "2")}, "-rw-r--r-- a \"2\"\n"},
		"duplicate directories":           {[]entry{dir("a"), file("a/b", "1"), dir("a")}, "drwxr-xr-x a\n-rw-r--r-- a/b \"1\"\n"},
		"a file, then a directory":        {[]entry{file("a", "1"), dir("a"), file("a/b", "2")}, "drwxr-xr-x a\n-rw-r--r-- a/b \"2\"\n"},
		"a directory, then a file":        {[]entry{dir("a"), file("a/b", "1"), file("a", "2")}, "-rw-r--r-- a \"2\"\n"},
		"a directory that was open, then a link to another": {[]entry{dir("b"), file("a/c/d", "1"), symlink("a", "b"), dir("b/c"), file("a/c/e", "2")},
			"Lrwxrwxrwx a -> b\ndrwxr-xr-x b\ndrwxr-xr-x b/c\n-rw-r--r-- b/c/e \"2\"\n"},
		"a link to itself":          {[]entry{file("a", "1"), hardLink("a", "a"), hardLink("./a", "/a")}, "-rw-r--r-- a \"1\"\n"},
		"writes through a link":     {[]entry{dir("usr/lib"), symlink("lib", "usr/lib"), file("lib/x", "1")}, "Lrwxrwxrwx lib -> usr/lib\ndrwxr-xr-x usr\ndrwxr-xr-x usr/lib\n-rw-r--r-- usr/lib/x \"1\"\n"},
		"a link is replaced itself": {[]entry{file("a", "1"), symlink("b", "a"), file("b", "2")}, "-rw-r--r-- a \"1\"\n-rw-r--r-- b \"2\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			if _, err := p.apply(t, archive(t, c.entries...), DefaultLimits); err != nil {
				t.Fatal(err)
			}
			want := c.want
			if name == "plain" {
				want += "-rw-r--r-- bin/sh \"sh\" links=2\nurwxr-xr-x bin/su \"su\"\nprw--w--w- pipe\nLrwxrwxrwx sh -> /bin/sh\n"
			}
			if diff := cmp.Diff(want, p.tree(t)); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
			p.intact(t)
		})
	}
}

// above stands for the host's directory above the layer in the entries of a hostile archive. An archive
// that succeeded would change the canary there, and no file of the machine on which the test runs.
const above = "/ABOVE"

// aimedAt returns entries at a place.
func aimedAt(p *place, entries []entry) (aimed []entry) {
	for _, e := range entries {
		e.Name = strings.ReplaceAll(e.Name, above, p.above)
		e.Name = strings.ReplaceAll(e.Name, above[1:], p.above[1:])
		e.Linkname = strings.ReplaceAll(e.Linkname, above, p.above)
		aimed = append(aimed, e)
	}
	return aimed
}

// TestLinksLeadNowhereOutside applies archives that try to reach the host's files.
func TestLinksLeadNowhereOutside(t *testing.T) {
	for name, c := range map[string]struct {
		entries []entry
		err     string // "": the layer is unpacked, with all entries inside
	}{
		"a name above":                       {[]entry{file("../canary", "theirs")}, "leads out"},
		"a name above, hidden":               {[]entry{file("a/../../canary", "theirs")}, "leads out"},
		"a whiteout above":                   {[]entry{file("../.wh.canary", "")}, "leads out"},
		"a whiteout of the parent":           {[]entry{file(".wh...", "")}, "names no file"},
		"a whiteout of nothing":              {[]entry{file("a/.wh.", "")}, "names no file"},
		"a whiteout of the directory":        {[]entry{file("a/.wh..", "")}, "names no file"},
		"a file below a whiteout":            {[]entry{file(".wh.a/b", "")}, "below a whiteout"},
		"a link above, then through it":      {[]entry{symlink("up", ".."), file("up/canary", "theirs")}, ""},
		"many levels above":                  {[]entry{symlink("up", "../../../../../.."), file("up"+above+"/canary", "theirs")}, ""},
		"an absolute link, then through it":  {[]entry{symlink("abs", above), dir(above[1:]), file("abs/canary", "theirs")}, ""},
		"a dangling link, then through it":   {[]entry{symlink("abs", above), file("abs/canary", "theirs")}, "not a directory"},
		"a link to /proc":                    {[]entry{symlink("abs", "/proc/self/root"+above), file("abs/canary", "theirs")}, "not a directory"},
		"a circle of links":                  {[]entry{symlink("a", "b"), symlink("b", "a"), file("a/x", "")}, "too many levels"},
		"a hard link above":                  {[]entry{hardLink("mine", "../canary")}, "leads out"},
		"a hard link through a link above":   {[]entry{symlink("up", ".."), hardLink("mine", "up/canary")}, "not in the same layer"},
		"a hard link to an absolute name":    {[]entry{hardLink("mine", above+"/canary")}, "find the link's target"},
		"a hard link to a link, then a file": {[]entry{symlink("a", "../canary"), hardLink("b", "a"), file("b", "theirs")}, ""},
		"a hard link to a whiteout":          {[]entry{file(".wh.a", ""), hardLink("b", "a")}, "directory or was removed"},
		"a hard link to a directory":         {[]entry{dir("a"), hardLink("b", "a")}, "directory or was removed"},
		"a hard link to the root":            {[]entry{hardLink("b", "/")}, "layer's root"},
		"a hard link in place of its parent": {[]entry{file("a/b", "1"), hardLink("a", "a/b")}, "no such file"},
		"a file as parent":                   {[]entry{file("a", ""), file("a/b", "")}, "not a directory"},
		"a file as root":                     {[]entry{file(".", "")}, "not a directory"},
		"an owner out of range":              {[]entry{{Header: tar.Header{Typeflag: tar.TypeReg, Name: "a", Uid: 1<<32 - 1}}}, "not a user"},
		"a long component":                   {[]entry{file(strings.Repeat("n", 300), "")}, "name too long"},
		"a long name":                        {[]entry{file(strings.Repeat("n/", 3000)+"n", "")}, "has 600"},
		"a long target":                      {[]entry{symlink("a", strings.Repeat("n/", 3000))}, "has 600"},
		"an empty target":                    {[]entry{symlink("a", "")}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			_, err := p.apply(t, archive(t, aimedAt(p, c.entries)...), DefaultLimits)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error = %v, want %q", err, c.err)
			}
			p.intact(t)
		})
	}
}

func TestLimitsHoldBeforeTheDiskIsFull(t *testing.T) {
	small := Limits{Bytes: 1 << 20, Entries: 50, Path: 100, Names: 1000}
	many := func(n int, e func(i int) entry) (all []entry) {
		for i := range n {
			all = append(all, e(i))
		}
		return all
	}
	for name, entries := range map[string][]entry{
		"one large file":    {file("a", strings.Repeat("x", 1<<20+1))},
		"many small files":  many(49, func(i int) entry { return file(fmt.Sprint(i), strings.Repeat("x", 30000)) }),
		"many entries":      many(51, func(i int) entry { return file(fmt.Sprint(i), "") }),
		"one file again":    many(51, func(int) entry { return file("a", "") }),
		"many devices":      many(51, func(int) entry { return entry{Header: tar.Header{Typeflag: tar.TypeChar, Name: "a"}} }),
		"one nested name":   {file(strings.Repeat("d/", 49)+"d", ""), file(strings.Repeat("e/", 49)+"e", "")},
		"many names":        many(40, func(i int) entry { return dir(fmt.Sprintf("%060d", i)) }),
		"names that repeat": many(40, func(i int) entry { return dir(fmt.Sprintf("%060d", 0)) }),
	} {
		p := newPlace(t)
		_, err := p.apply(t, archive(t, entries...), small)
		var limit *LimitError
		if !errors.As(err, &limit) {
			t.Errorf("%s: error = %v, want a limit", name, err)
		}
	}
}

// TestSparseFilesCountInFull applies a header that claims a terabyte of holes.
func TestSparseFilesCountInFull(t *testing.T) {
	p := newPlace(t)
	// The sparse format 1.0 keeps the map before the content: no fragments.
	content := "0\n" + strings.Repeat("\x00", 510)
	tarball := archive(t, entry{tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: int64(len(content)), Mode: 0o644}, content})
	pax := archivePAX("GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.realsize=1099511627776", "GNU.sparse.name=hole")
	_, err := p.apply(t, append(pax, tarball...), DefaultLimits)
	var limit *LimitError
	if !errors.As(err, &limit) {
		t.Errorf("error = %v, want a limit", err)
	}
}

// archivePAX returns an extended header with records that a tar.Writer refuses to write.
func archivePAX(records ...string) []byte {
	var body strings.Builder
	for _, r := range records {
		n := len(r) + 2
		for len(fmt.Sprint(n))+len(r)+2 != n {
			n++
		}
		fmt.Fprintf(&body, "%d %s\n", n, r)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "PaxHeaders.0/x", Size: int64(body.Len()), Mode: 0o644})
	w.Write([]byte(body.String()))
	w.Flush()
	raw := b.Bytes()
	raw[156] = tar.TypeXHeader
	sum := 0
	copy(raw[148:156], "        ")
	for _, c := range raw[:512] {
		sum += int(c)
	}
	copy(raw[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return raw
}

func TestMetadataIsKept(t *testing.T) {
	// The capability cap_net_raw=ep in its binary form.
	const netRaw = "\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	f := file("d/f", "x")
	f.Uid, f.Gid = 1000, 3_000_000_000
	f.Mode = 0o6711
	f.PAXRecords = map[string]string{
		xattrRecord + capability: netRaw, xattrRecord + "user.note": "n", xattrRecord + "user.overlay.redirect": "/etc",
		xattrRecord + "trusted.overlay.redirect": "/etc", xattrRecord + "security.selinux": "s",
	}
	d := dir("d")
	d.Mode = 0o1777
	d.PAXRecords = map[string]string{xattrRecord + "trusted.overlay.opaque": "y", xattrRecord + "user.dir": "d"}
	early := symlink("l", "x")
	early.ModTime = time.Unix(-5, 0)
	p := newPlace(t)
	if _, err := p.apply(t, archive(t, d, f, early, dir(".")), DefaultLimits); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		mode     fs.FileMode
		uid, gid uint32
		time     int64
		xattrs   map[string]string
	}{
		".": {fs.ModeDir | 0o755, 0, 0, stamp.Unix(), nil},
		"d": {fs.ModeDir | fs.ModeSticky | 0o777, 0, 0, stamp.Unix(), map[string]string{"trusted.overlay.opaque": "", "user.dir": "d"}},
		"d/f": {fs.ModeSetuid | fs.ModeSetgid | 0o711, 1000, 3_000_000_000, stamp.Unix(), map[string]string{
			capability: netRaw, "user.note": "n", "user.overlay.redirect": "", "trusted.overlay.redirect": "", "security.selinux": "",
		}},
		"l": {fs.ModeSymlink | 0o777, 0, 0, 0, nil},
	} {
		info, err := os.Lstat(filepath.Join(p.root, name))
		if err != nil {
			t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		if info.Mode() != want.mode || info.ModTime().Unix() != want.time {
			t.Errorf("%s is %s of %s", name, info.Mode(), info.ModTime())
		}
		if root && (st.Uid != want.uid || st.Gid != want.gid) {
			t.Errorf("%s belongs to %d:%d", name, st.Uid, st.Gid)
		}
		for attr, value := range want.xattrs {
			if attr == capability && !root {
				value = ""
			}
			if got := xattr(filepath.Join(p.root, name), attr); got != value {
				t.Errorf("%s: %s = %q, want %q", name, attr, got, value)
			}
		}
	}
}
