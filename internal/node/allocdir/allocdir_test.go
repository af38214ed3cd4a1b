// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree opens a tree whose secrets are below the test's directory.
func tree(t *testing.T) *Tree {
	t.Helper()
	dir := t.TempDir()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		names, err := d.List()
		if err != nil {
			t.Error(err)
		}
		for _, alloc := range names {
			if err := d.RemoveSecrets(alloc); err != nil {
				t.Error(err)
			}
		}
		d.Close()
	})
	return d
}

func mode(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().String()
}

func TestLayout(t *testing.T) {
	d := tree(t)
	for range 2 { // it may be repeated
		if err := d.Build("one", "web", Layout{Link: true}); err != nil {
			t.Fatal(err)
		}
	}
	dir := d.Task("one", "web")
	got := map[string]string{}
	for name, path := range map[string]string{
		"alloc": dir.Alloc, "logs": d.LogDir("one"), "data": filepath.Join(dir.Alloc, "data"), "local": dir.Local, "tmp": dir.Tmp, "secrets": dir.Secrets,
	} {
		got[name] = mode(t, path)
	}
	want := map[string]string{
		"alloc": "drwxrwxrwx", "logs": "dtrwxrwxrwx", "data": "drwxrwxrwx", "local": "drwxr-xr-x", "tmp": "dtrwxrwxrwx", "secrets": "drwx------",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("modes (-want +got):\n%s", d)
	}
	target, err := os.Readlink(filepath.Join(dir.Task, "secrets"))
	if err != nil || target != dir.Secrets {
		t.Errorf("the task's secrets link to %q, %v", target, err)
	}
	if strings.HasPrefix(dir.Secrets, d.Root("one")) {
		t.Errorf("secrets %s are inside the allocation's directory", dir.Secrets)
	}
	if err := d.Remove("one"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{d.Root("one"), dir.Secrets} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", path)
		}
	}
}

func TestDirectoriesBelongToTheTasksUser(t *testing.T) {
	d := tree(t)
	owner, err := OwnerOf("65534")
	if err != nil {
		t.Fatal(err)
	}
	want := uint32(os.Geteuid())
	if os.Geteuid() == 0 {
		want = 65534
	}
	if err := d.Build("one", "web", Layout{Owner: owner}); err != nil {
		t.Fatal(err)
	}
	dir := d.Task("one", "web")
	for _, path := range []string{dir.Local, dir.Tmp, dir.Secrets} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; uid != want {
			t.Errorf("%s belongs to %d; want %d", path, uid, want)
		}
	}
}

func TestSecretsOfDataDirectoriesThatAreGoneAreRemoved(t *testing.T) {
	if os.Geteuid() != 0 {
		return // then they are inside the data directory
	}
	dir := t.TempDir()
	gone, err := Open(filepath.Join(dir, "gone"))
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Build("one", "web", Layout{}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	tree(t)
	if _, err := os.Stat(gone.secrets); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", gone.secrets, err)
	}
}

func TestUnknownUserIsNamed(t *testing.T) {
	if os.Geteuid() != 0 {
		return // then users do not matter
	}
	_, err := OwnerOf("nobody-of-that-name")
	if err == nil || err.Error() != `user "nobody-of-that-name" does not exist on this node` {
		t.Errorf("error = %v", err)
	}
}

func TestSomethingInTheWayIsTold(t *testing.T) {
	d := tree(t)
	if err := os.WriteFile(d.Root("one"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := d.Build("one", "web", Layout{})
	if err == nil || !strings.Contains(err.Error(), "something that is not a directory is in its place") {
		t.Errorf("error = %v", err)
	}
}

// A task of the group runs while the directories of another one are made: what it
// can move, it replaces by a link to a directory of the host.
func TestBuildChangesNothingOfTheHost(t *testing.T) {
	d := tree(t)
	host := filepath.Join(t.TempDir(), "host")
	if err := os.Mkdir(host, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Build("one", "web", Layout{}); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(d.Task("one", "web").Alloc, "data")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				os.Symlink(host, data)
				os.Remove(data)
			}
		}
	}()
	for range 20_000 {
		d.Build("one", "other", Layout{}) // fails now and then
	}
	close(stop)
	<-stopped
	if got := mode(t, host); got != "drwx------" {
		t.Errorf("the host's directory now has the mode %s", got)
	}
}
