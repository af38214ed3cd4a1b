// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package beneath

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reaches reports whether a client of the path reaches the listener. The path may be too long for one.
func reaches(t *testing.T, l net.Listener, path string) bool {
	t.Helper()
	short := filepath.Join(t.TempDir(), "s")
	must(t, os.Symlink(path, short))
	client, err := net.Dial("unix", short)
	if err != nil {
		t.Log(err)
		return false
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	_, err = client.Write([]byte("x"))
	must(t, err)
	n, err := server.Read(make([]byte, 8))
	return err == nil && n == 1
}

// TestListenReplacesWhatATaskMade creates sockets where a task made links, files, directories and
// the socket of an earlier process, below a path that is too long for a socket.
func TestListenReplacesWhatATaskMade(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 200))
	must(t, os.MkdirAll(long, 0o700))
	host := filepath.Join(t.TempDir(), "host")
	must(t, os.WriteFile(host, []byte("kept"), 0o644))
	for what, plant := range map[string]func(path string) error{
		"nothing":               func(string) error { return nil },
		"a link to a file":      func(path string) error { return os.Symlink(host, path) },
		"a dead link":           func(path string) error { return os.Symlink(host+"-none", path) },
		"a hard link":           func(path string) error { return os.Link(host, path) },
		"a file":                func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a directory":           func(path string) error { return os.MkdirAll(filepath.Join(path, "a/b"), 0o700) },
		"an unreadable one":     func(path string) error { return os.MkdirAll(path, 0) },
		"a link to a directory": func(path string) error { return os.Symlink(filepath.Dir(host), path) },
		"an earlier socket": func(path string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s")})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			must(t, os.Rename(l.Addr().String(), path))
			return l.Close()
		},
	} {
		above := filepath.Join(long, strings.ReplaceAll(what, " ", "-"))
		must(t, os.MkdirAll(filepath.Join(above, "task"), 0o700))
		path := filepath.Join(above, "task", "api.sock")
		must(t, plant(path))
		root, err := Open(above)
		must(t, err)
		into, err := root.Dir("task")
		must(t, err)
		l, err := into.Listen("api.sock", -1, -1)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != fs.ModeSocket|0o600 {
			t.Errorf("%s: mode %v, %v", what, info, err)
		}
		if !reaches(t, l, path) {
			t.Errorf("%s: no connection", what)
		}
		must(t, l.Close())
		if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
			t.Errorf("%s: it left %v, %v", what, names, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: the end of the listener removed what has the name now: %v", what, err)
		}
		must(t, into.Close())
		must(t, root.Close())
	}
	if text, err := os.ReadFile(host); err != nil || string(text) != "kept" {
		t.Errorf("the file of the host: %q, %v", text, err)
	}
	if info, err := os.Stat(host); err != nil || info.Mode() != 0o644 {
		t.Errorf("the file of the host has mode %v, %v", info.Mode(), err)
	}
}

func TestListenTakesOneName(t *testing.T) {
	root, err := Open(t.TempDir())
	must(t, err)
	defer root.Close()
	for _, name := range []string{"", ".", "..", "a/b", "../x"} {
		if l, err := root.Listen(name, -1, -1); err == nil {
			t.Errorf("%q: %v", name, l.Addr())
		}
	}
}
