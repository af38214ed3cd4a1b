// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package beneath

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A place is a directory in the hands of a task, and a file of the host.
type place struct {
	*Dir
	path     string
	precious string
}

func open(t *testing.T) *place {
	t.Helper()
	p := &place{path: t.TempDir(), precious: filepath.Join(t.TempDir(), "precious")}
	d, err := Open(p.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	p.Dir = d
	must(t, os.WriteFile(p.precious, []byte("mine"), 0o600))
	t.Cleanup(func() {
		if got, _ := os.ReadFile(p.precious); string(got) != "mine" {
			t.Errorf("the host's file now holds %q", got)
		}
	})
	return p
}

func (p *place) at(name string) string { return filepath.Join(p.path, name) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// attacks are what a task can put in the place of a file.
func (p *place) attacks() map[string]func(path string) error {
	return map[string]func(path string) error{
		"a link to a file":        func(path string) error { return os.Symlink(p.precious, path) },
		"a link to nothing":       func(path string) error { return os.Symlink(p.precious+".new", path) },
		"a link to a directory":   func(path string) error { return os.Symlink(filepath.Dir(p.precious), path) },
		"a second name of a file": func(path string) error { return os.Link(p.precious, path) },
		"a pipe":                  func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"a directory": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o777), os.WriteFile(filepath.Join(path, "x"), nil, 0o666))
		},
	}
}

func TestAppendTouchesOnlyItsOwnFiles(t *testing.T) {
	p := open(t)
	for name, attack := range p.attacks() {
		must(t, attack(p.at("log")))
		f, size, err := p.Append("log", 0o644)
		switch {
		case err == nil:
			f.WriteString("output")
			f.Close()
			if got, _ := os.ReadFile(p.at("log")); size != 0 || string(got) != "output" {
				t.Errorf("%s: size %d, then %q", name, size, got)
			}
		case !errors.Is(err, ErrOccupied):
			t.Errorf("%s: %v", name, err)
		}
		must(t, os.RemoveAll(p.at("log")))
	}
	if _, err := os.Lstat(p.precious + ".new"); err == nil {
		t.Error("a file was made where a link led")
	}
	for _, text := range []string{"one ", "two"} {
		f, size, err := p.Append("log", 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if text == "two" && size != 4 {
			t.Errorf("size %d of the file so far, want 4", size)
		}
		f.WriteString(text)
		f.Close()
	}
	if got, _ := os.ReadFile(p.at("log")); string(got) != "one two" {
		t.Errorf("the file holds %q", got)
	}
}

func TestAFileOfAnotherUserIsNotAppendedTo(t *testing.T) {
	if os.Geteuid() != 0 {
		return // then there is none
	}
	p := open(t)
	must(t, os.WriteFile(p.at("log"), []byte("theirs"), 0o666))
	must(t, os.Chown(p.at("log"), 65534, 65534))
	if _, _, err := p.Append("log", 0o644); !errors.Is(err, ErrOccupied) {
		t.Errorf("error = %v", err)
	}
}

func TestAFileThatATaskHoldsALeaseOnHoldsNobodyUp(t *testing.T) {
	p := open(t)
	must(t, os.WriteFile(p.at("log"), nil, 0o600))
	f, err := os.Open(p.at("log"))
	must(t, err)
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		t.Fatalf("take a lease: %v", err)
	}
	if _, _, err := p.Append("log", 0o644); !errors.Is(err, ErrOccupied) {
		t.Errorf("error = %v", err)
	}
}

func TestCreateReplacesWhatATaskMade(t *testing.T) {
	p := open(t)
	for name, attack := range p.attacks() {
		must(t, attack(p.at("file")))
		f, err := p.Create("file", 0o600)
		if name == "a directory" {
			if err == nil {
				t.Error("a directory was replaced by a file")
			}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		} else {
			f.WriteString("payload")
			f.Close()
		}
		must(t, os.RemoveAll(p.at("file")))
	}
}

func TestDirectoriesAreNotLinks(t *testing.T) {
	p := open(t)
	must(t, os.Mkdir(p.at("real"), 0o700))
	for name, attack := range p.attacks() {
		if name == "a directory" {
			continue
		}
		must(t, attack(p.at("dir")))
		for _, path := range []string{"dir", "dir/precious", "real/../dir", "..", "", "/etc"} {
			if d, err := p.Dir.Dir(path); err == nil {
				t.Errorf("%s: %q was opened", name, path)
				d.Close()
			}
		}
		if d, err := p.Make("dir", 0o777); !errors.Is(err, ErrOccupied) {
			t.Errorf("%s: made a directory: %v", name, err)
			d.Close()
		}
		if err := Chown(p.at("dir"), 1, 1); err == nil {
			t.Errorf("%s: was given to a user", name)
		}
		must(t, os.Remove(p.at("dir")))
	}
}

func TestMakeHasExactlyTheMode(t *testing.T) {
	p := open(t)
	for mode, want := range map[os.FileMode]string{0o777: "drwxrwxrwx", 0o777 | os.ModeSticky: "dtrwxrwxrwx", 0o700: "drwx------"} {
		d, err := p.Make("dir", mode)
		must(t, err)
		info, err := d.f.Stat()
		must(t, err)
		if info.Mode().String() != want {
			t.Errorf("%s, want %s", info.Mode(), want)
		}
		d.Close()
		must(t, os.Remove(p.at("dir")))
	}
}

func TestRemoveAllFollowsNoLink(t *testing.T) {
	p := open(t)
	must(t, os.MkdirAll(p.at("top/a/b"), 0o700))
	i := 0
	for _, attack := range p.attacks() {
		i++
		must(t, attack(p.at("top/a/"+strconv.Itoa(i))))
	}
	must(t, p.RemoveAll("top"))
	must(t, p.RemoveAll("top"))
	if _, err := os.Lstat(p.at("top")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if err := p.RemoveAll("../" + filepath.Base(p.path)); err == nil {
		t.Error("a path out of the directory was removed")
	}
}

// A task can nest more directories than a process may have open files.
func TestRemoveAllCopesWithDeepTrees(t *testing.T) {
	p := open(t)
	dir, err := p.Make("top", 0o700)
	must(t, err)
	must(t, os.WriteFile(p.at("top/moved-1"), nil, 0o600)) // a name that is needed on the way
	for range 3000 {
		next, err := dir.Make("d", 0o700)
		must(t, err)
		f, err := next.Create("f", 0o600)
		must(t, err)
		f.Close()
		dir.Close()
		dir = next
	}
	dir.Close()
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	few := unix.Rlimit{Cur: 4 * maxDepth, Max: limit.Max}
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	err = p.RemoveAll("top")
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	must(t, err)
}

func TestOnlyRegularFilesBelowTheRootOpen(t *testing.T) {
	p := open(t)
	must(t, os.Mkdir(p.at("sub"), 0o700))
	must(t, os.WriteFile(p.at("sub/file"), []byte("text"), 0o600))
	must(t, os.Symlink("sub/file", p.at("inside")))
	must(t, os.Symlink("/etc/passwd", p.at("absolute")))
	must(t, os.Symlink("../../../../../../etc/passwd", p.at("sub/relative")))
	must(t, syscall.Mkfifo(p.at("fifo"), 0o644))
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(socket)
	must(t, os.Chdir(p.path)) // an address is short
	defer os.Chdir("/")
	must(t, unix.Bind(socket, &unix.SockaddrUnix{Name: "socket"}))
	root, err := os.OpenRoot(p.path)
	must(t, err)
	defer root.Close()
	for _, name := range []string{"absolute", "sub/relative", "../" + filepath.Base(p.path) + "/sub/file", "fifo", "socket", "sub", "none"} {
		if f, _, err := File(root, name); err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
	}
	for _, name := range []string{"fifo", "socket", "sub/file", "absolute", "none", ".."} {
		if f, err := List(root, name); err == nil {
			f.Close()
			t.Errorf("%s was opened as a directory", name)
		}
	}
	for _, name := range []string{"sub/file", "inside"} {
		f, info, err := File(root, name)
		must(t, err)
		if info.Size() != 4 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
		f.Close()
	}
	f, err := List(root, "sub")
	must(t, err)
	f.Close()
}
