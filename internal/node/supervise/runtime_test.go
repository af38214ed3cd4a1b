// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// TestRuntimesAreHeldInMemory replaces a runtime as package managers do.
func TestRuntimesAreHeldInMemory(t *testing.T) {
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "runtime")
	install := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(path+".new", content, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	var files runtimeFiles
	open := func() *os.File {
		t.Helper()
		fd := files.open(path)
		if fd < 0 {
			return nil
		}
		f := os.NewFile(uintptr(fd), "runtime")
		t.Cleanup(func() { f.Close() })
		return f
	}
	if open() != nil {
		t.Error("a file that does not exist is held")
	}

	install(program)
	first, again := open(), open()
	if first == nil || again == nil {
		t.Fatal("a binary is not held in memory")
	}
	if held, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", first.Fd())); err != nil || !bytes.Equal(held, program) {
		t.Errorf("%v, %d bytes are held of %d", err, len(held), len(program))
	}
	if !sameFile(t, first, again) {
		t.Error("two starts have two copies")
	}
	if _, err := first.WriteAt([]byte("x"), 0); err == nil {
		t.Error("the program in memory can be written")
	}
	if err := first.Truncate(0); err == nil {
		t.Error("the program in memory can be cut")
	}
	if got, err := unix.FcntlInt(first.Fd(), unix.F_GET_SEALS, 0); err != nil || got != runtimeSeals {
		t.Errorf("%v, the seals are %#x: runc starts itself without a copy only with %#x", err, got, runtimeSeals)
	}
	cmd := exec.Command("/proc/self/fd/3", "-test.list", "TestRuntimesAreHeldInMemory")
	cmd.ExtraFiles = []*os.File{first}
	if out, err := cmd.Output(); err != nil || !bytes.Contains(out, []byte(t.Name())) {
		t.Errorf("the program in memory does not run: %v\n%s", err, out)
	}

	install(append(program, "newer"...))
	newer := open()
	if newer == nil || sameFile(t, first, newer) {
		t.Error("the old program is started after an update")
	}

	install([]byte("#!/bin/sh\nexec runc \"$@\"\n"))
	if open() != nil {
		t.Error("a script is started from memory, where its interpreter cannot open it")
	}
	install(nil)
	if open() != nil {
		t.Error("an empty file is held")
	}
}

func sameFile(t *testing.T, a, b *os.File) bool {
	t.Helper()
	one, err := a.Stat()
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(one, other)
}

// TestAStartWhoseMountsHangIsGivenUp lets the file system answer after the start was given up.
func TestAStartWhoseMountsHangIsGivenUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := &supervisor{children: map[int]func(unix.WaitStatus){}}
		answers, ended := make(chan struct{}), make(chan struct{})
		p := process{argv: []string{"/bin/false"}, dir: "/", group: &cgroup.Group{}, prepare: []func() error{func() error { <-answers; return nil }}}
		begun := time.Now()
		_, err := s.startRuntime(&p, &cgroup.Group{}, func() { close(ended) })
		if err == nil || !strings.Contains(err.Error(), "not ready after 30s: look for a file system") || time.Since(begun) != stepTimeout {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		select {
		case <-ended:
			t.Error("what the thread uses was closed before its end")
		default:
		}
		close(answers)
		<-ended
		if len(s.children) != 0 {
			t.Error("a start that was given up started the runtime")
		}
	})
}
