// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditsink

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reeve-run/reeve/internal/auditlog"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func line(n int) auditlog.Batch {
	return auditlog.Batch{Lines: []byte(fmt.Sprintf("{\"Path\":\"%d\"}\n", n)), Records: 1}
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAFileRotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	r := NewFile(File{Path: path, RotateBytes: 40, RotateMaxFiles: 2})
	defer r.Close()
	for n := range 12 {
		if err := r.Deliver(t.Context(), line(n)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"": `"11"`, ".1": `"9"`, ".2": `"7"`} {
		if got := contentOf(t, path+name); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %s", name, got, want)
		}
		if info, err := os.Stat(path + name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if _, err := os.Stat(path + ".3"); err == nil {
		t.Error("a third file is kept")
	}
}

func TestAFileFollowsAnotherRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	r := NewFile(File{Path: path, RotateBytes: -1})
	defer r.Close()
	deliver := func(n int) {
		t.Helper()
		if err := r.Deliver(t.Context(), line(n)); err != nil {
			t.Fatal(err)
		}
	}
	deliver(1)
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	deliver(2)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	deliver(3)
	if got := contentOf(t, path); got != string(line(3).Lines) {
		t.Errorf("%q", got)
	}
	if got := contentOf(t, path+".old"); got != string(line(1).Lines) {
		t.Errorf("the renamed file contains %q", got)
	}
	r.Close()
	if err := os.WriteFile(path, []byte(`{"ID":"torn`), 0o644); err != nil {
		t.Fatal(err)
	}
	deliver(4)
	if got := contentOf(t, path); got != "{\"ID\":\"torn\n"+string(line(4).Lines) {
		t.Errorf("after a part of a line: %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// TestAFileCannotBeReplaced puts other things at the path of the file.
func TestAFileCannotBeReplaced(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		put  func(path string) error
		says string
	}{
		"a link":              {func(path string) error { return os.Symlink(victim, path) }, "is a link"},
		"a dangling link":     {func(path string) error { return os.Symlink(filepath.Join(dir, "new"), path) }, "is a link"},
		"a second name":       {func(path string) error { return os.Link(victim, path) }, "second name"},
		"a named pipe":        {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "no regular file"},
		"a directory":         {func(path string) error { return os.Mkdir(path, 0o700) }, "directory"},
		"a missing directory": {func(path string) error { return os.Remove(dir + "/sub") }, "no such file"},
	} {
		path := filepath.Join(dir, "sub", "audit.log")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := c.put(path); err != nil {
			t.Fatal(err)
		}
		r := NewFile(File{Path: path})
		if err := r.Deliver(t.Context(), line(1)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", what, err, c.says)
		}
		r.Close()
		os.RemoveAll(filepath.Dir(path))
	}
	if got := contentOf(t, victim); got != "" {
		t.Errorf("the victim contains %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("a dangling link was followed")
	}
}

// TestAFileThatComesBackHasAllRecords makes the directory of the file disappear.
func TestAFileThatComesBackHasAllRecords(t *testing.T) {
	b := newBench(t, 1<<20)
	dir := filepath.Join(t.TempDir(), "mount")
	s := b.start(NewFile(File{Path: filepath.Join(dir, "audit.log")}))
	defer s.Close(t.Context())
	b.add(t, 30)
	wait.Until(t, "a failure", func() bool { return s.Status().Failures > 0 })
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b.add(t, 30)
	wait.Until(t, "all records are delivered", func() bool { return s.Status().Records == 60 })
	var got pile
	got.take(t, []byte(contentOf(t, filepath.Join(dir, "audit.log"))))
	if !got.has(60) {
		t.Errorf("the file has %d records", len(got.seen))
	}
}
