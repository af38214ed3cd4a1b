// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The environment variables of a process that kills itself at a step.
const (
	crashDir  = "REEVE_TEST_STORE"
	crashStep = "REEVE_TEST_STEP"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	at, _ := strconv.Atoi(os.Getenv(crashStep))
	s, err := Open(dir, slog.New(slog.DiscardHandler))
	if err == nil {
		n := 0
		s.step = func(string) {
			if n++; n == at {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
		err = live(s)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// live pulls two images that share a layer, and removes the one without a lease.
func live(s *Store) error {
	if _, err := pull(s, id("a"), "app:1", "owner", id("1"), id("2")); err != nil {
		return err
	}
	fmt.Println("leased")
	if _, err := pull(s, id("b"), "app:2", "other", id("2"), id("3")); err != nil {
		return err
	}
	if err := s.Release("other"); err != nil {
		return err
	}
	_, err := s.Collect(Policy{MaxBytes: 1}, Usage{}, nil)
	return err
}

func TestRealKillsLeaveAStoreThatWorks(t *testing.T) {
	for step := 1; ; step++ {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), crashDir+"="+dir, crashStep+"="+strconv.Itoa(step))
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		if err != nil && !killed {
			t.Fatalf("step %d: %v: %s", step, err, out)
		}
		s := open(t, dir)
		if left, _ := os.ReadDir(filepath.Join(dir, "tmp")); len(left) > 0 {
			t.Errorf("step %d: %v is left", step, left)
		}
		checkWhole(t, s, step)
		if strings.Contains(string(out), "leased") {
			if i, err := s.Lease(id("a"), "", "again"); err != nil || i == nil || !slices.Contains(i.Leases, "owner") {
				t.Errorf("step %d: the leased image is lost: %+v, %v", step, i, err)
			}
		}
		if err := live(s); err != nil {
			t.Errorf("step %d: the next pull: %v", step, err)
		}
		checkWhole(t, s, step)
		if all := s.Images(); len(all) != 1 {
			t.Errorf("step %d: images %+v", step, all)
		}
		if layers, _ := os.ReadDir(filepath.Join(dir, "layers")); len(layers) != 2 {
			t.Errorf("step %d: layers %v", step, layers)
		}
		if !killed {
			if step < 15 {
				t.Errorf("the process has only %d steps", step)
			}
			return
		}
	}
}

// checkWhole reports layers whose content is incomplete.
func checkWhole(t *testing.T, s *Store, step int) {
	t.Helper()
	layers, err := os.ReadDir(filepath.Join(s.dir, "layers"))
	must(t, err)
	for _, l := range layers {
		if got, err := os.ReadFile(filepath.Join(s.dir, "layers", l.Name(), "fs", "f")); string(got) != l.Name() {
			t.Errorf("step %d: layer %s holds %q (%v)", step, l.Name(), got, err)
		}
	}
}
