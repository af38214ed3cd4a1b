// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inMemory opens a tree whose secrets are in memory; nil: this machine forbids mounts.
func inMemory(t *testing.T) *Tree {
	t.Helper()
	d := tree(t)
	if !d.inMemory {
		t.Log("secrets are not in memory here: no right to mount")
		return nil
	}
	return d
}

func mounts(t *testing.T, below string) (at []string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); strings.HasPrefix(f[4], below+"/") {
			at = append(at, f[4]+" "+f[5])
		}
	}
	return at
}

func fill(dir string) error {
	return os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 8<<20), 0o600)
}

func TestAFullDirectoryOfSecretsIsOneTasksOwn(t *testing.T) {
	d := inMemory(t)
	if d == nil {
		return
	}
	for task, mb := range map[string]int{"small": 0, "large": 4, "other": 0} {
		if err := d.Build("one", task, Layout{SecretsMB: mb}); err != nil {
			t.Fatal(err)
		}
	}
	for task, want := range map[string]int64{"small": 1 << 20, "large": 4 << 20} {
		dir := d.Task("one", task).Secrets
		if err := fill(dir); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("filling the secrets of %s: %v", task, err)
		}
		if info, err := os.Stat(filepath.Join(dir, "filler")); err != nil || info.Size() != want {
			t.Errorf("the secrets of %s hold %v, %v; want %d bytes", task, info, err, want)
		}
		err := d.WriteToken("one", task, "secrets/token", "x", Owner{})
		if err == nil || !strings.Contains(err.Error(), "set resources { secrets = MB }") {
			t.Errorf("writing a token to the full secrets of %s: %v", task, err)
		}
	}
	if err := d.WriteToken("one", "other", "secrets/token", "x", Owner{}); err != nil {
		t.Errorf("writing a token for the other task: %v", err)
	}
}

func TestEmptyFilesOfSecretsAreBounded(t *testing.T) {
	d := inMemory(t)
	if d == nil {
		return
	}
	if err := d.Build("one", "web", Layout{}); err != nil {
		t.Fatal(err)
	}
	dir := d.Task("one", "web").Secrets
	for i := range 2 * inodesPerMB {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600); errors.Is(err, unix.ENOSPC) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("the secrets hold %d empty files", 2*inodesPerMB)
}

func TestAMountOfSecretsIsStrictAndBelongsToTheTask(t *testing.T) {
	d := inMemory(t)
	if d == nil {
		return
	}
	owner, err := OwnerOf("65534:65533")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a restart keeps the mount and its files
		if err := d.Build("one", "web", Layout{Owner: owner}); err != nil {
			t.Fatal(err)
		}
		dir := d.Task("one", "web").Secrets
		if err := os.WriteFile(filepath.Join(dir, "kept"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		list := mounts(t, d.secrets)
		if len(list) != 1 || !strings.HasPrefix(list[0], dir+" ") {
			t.Fatalf("the mounts are %q", list)
		}
		for _, flag := range []string{"noexec", "nosuid", "nodev"} {
			if !strings.Contains(list[0], flag) {
				t.Errorf("the mount %q lacks %s", list[0], flag)
			}
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); info.Mode() != fs.ModeDir|0o700 || st.Uid != 65534 || st.Gid != 65533 {
			t.Errorf("the directory has mode %v and belongs to %d:%d", info.Mode(), st.Uid, st.Gid)
		}
	}
	if _, err := os.Stat(filepath.Join(d.Task("one", "web").Secrets, "kept")); err != nil {
		t.Errorf("the restart lost a file: %v", err)
	}
}

// TestMountsOfSecretsEndWithTheirAllocation stops the removal at every step where a killed agent may leave it.
func TestMountsOfSecretsEndWithTheirAllocation(t *testing.T) {
	d := inMemory(t)
	if d == nil {
		return
	}
	dir := func(alloc string) string { return d.Task(alloc, "web").Secrets }
	steps := map[string]func(alloc string) error{
		"mounted":         func(string) error { return nil },
		"mounted twice":   func(alloc string) error { return mountMemory(dir(alloc), "size=1m") },
		"unmounted":       func(alloc string) error { return unmount(dir(alloc)) },
		"without a point": func(alloc string) error { return errors.Join(unmount(dir(alloc)), os.Remove(dir(alloc))) },
		"without a tree":  func(alloc string) error { return os.RemoveAll(d.Root(alloc)) },
	}
	for name, stop := range steps {
		if err := d.Build(name, "web", Layout{}); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(dir(name), "open")) // as a process of the task holds it
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := stop(name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	names, err := d.List()
	if err != nil || len(names) != len(steps) {
		t.Errorf("the next agent finds %q, %v; want all %d", names, err, len(steps))
	}
	for _, name := range names {
		if err := d.Remove(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list := mounts(t, d.secrets); len(list) > 0 {
		t.Errorf("mounts remain: %q", list)
	}
	if entries, err := os.ReadDir(d.secrets); err != nil || len(entries) > 0 {
		t.Errorf("directories remain: %v, %v", entries, err)
	}
}

// TestNoSecretIsWrittenBelowAMissingMount unmounts the secrets of a task, as another program may.
func TestNoSecretIsWrittenBelowAMissingMount(t *testing.T) {
	d := inMemory(t)
	if d == nil {
		return
	}
	if err := d.Build("one", "web", Layout{}); err != nil {
		t.Fatal(err)
	}
	dir := d.Task("one", "web").Secrets
	if err := unix.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteToken("one", "web", "secrets/token", "x", Owner{}); err == nil || !strings.Contains(err.Error(), "restart the task") {
		t.Errorf("writing a token: %v", err)
	}
	if err := d.WriteTemplate("one", "web", "secrets/a.conf", []byte("x"), 0o600, Owner{}); err == nil || !strings.Contains(err.Error(), "restart the task") {
		t.Errorf("writing a template: %v", err)
	}
	if l, err := d.Listen("one", "web", Owner{}); err == nil {
		t.Errorf("it listens at %s", l.Addr())
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the mount point holds %v, %v", entries, err)
	}
	for what, err := range map[string]error{"mount": d.CheckMount("one", "web"), "mount point": errors.Join(os.Remove(dir), d.CheckMount("one", "web"))} {
		if err == nil || !strings.Contains(err.Error(), "restart the task") {
			t.Errorf("without its %s: %v", what, err)
		}
	}
	if err := d.CheckMount("one", "virtual"); err != nil {
		t.Errorf("a task without directories: %v", err)
	}
	if err := d.Build("one", "web", Layout{}); err != nil {
		t.Fatal(err)
	}
	if err := d.CheckMount("one", "web"); err != nil {
		t.Error(err)
	}
	if err := d.WriteToken("one", "web", "secrets/token", "x", Owner{}); err != nil {
		t.Errorf("after the restart of the task: %v", err)
	}
}
