// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// remains lists what exists of the containers of a supervisor's directory: processes, control
// groups and files of the runtime.
func remains(dir, marker string) (left []string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		b, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && bytes.Contains(b, []byte(marker)) {
			left = append(left, e.Name()+" "+strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	for _, pattern := range []string{dir + "/containers/*", "/sys/fs/cgroup/*/reeve/*/*" + marker + "*", "/sys/fs/cgroup/reeve/*/*" + marker + "*"} {
		found, _ := filepath.Glob(pattern)
		left = append(left, found...)
	}
	return left
}

// TestFailedStartsLeaveNoFilesOpen counts those of the supervisor, which mounts what containers consist of.
func TestFailedStartsLeaveNoFilesOpen(t *testing.T) {
	b := newBed(t, func(c *container.Config) { c.Volumes = true })
	start := func(n int, source string) error {
		h, err := b.Start(t.Context(), b.task(t, fmt.Sprintf("a/open/%d", n), "sleep", map[string]any{"volumes": []any{"local/made:/first", source + ":/second"}}))
		if err != nil {
			return err
		}
		if err := h.Stop(t.Context(), "SIGKILL", 0); err != nil {
			t.Error(err)
		}
		if err := h.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
		return nil
	}
	open := func() int {
		files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.client.PID()))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	if err := start(0, "/etc"); err != nil { // opens the files that stay
		t.Fatal(err)
	}
	before := open()
	for n := range 10 {
		if err := start(n, "/nowhere-on-this-node"); err == nil || !strings.Contains(err.Error(), "/nowhere-on-this-node: it does not exist on the node") {
			t.Fatal(err)
		}
		if err := start(n, "/etc"); err != nil {
			t.Fatal(err)
		}
	}
	wait.Until(t, "the supervisor has closed all files", func() bool { return open() <= before })
}

// TestAKilledSupervisorLeavesNoContainer kills the supervisor at seeded moments of starts and ends.
func TestAKilledSupervisorLeavesNoContainer(t *testing.T) {
	b := newBed(t, nil)
	dir := b.client.Dir()
	rng := rand.New(rand.NewPCG(3, 7))
	for round := range 12 {
		marker := fmt.Sprintf("round-%d-of-crashes", round)
		var handles []driver.Handle
		moment, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(120))*time.Millisecond)
		killed := make(chan struct{})
		go func() {
			defer cancel()
			<-moment.Done()
			syscall.Kill(b.client.PID(), syscall.SIGKILL)
			close(killed)
		}()
		for n := range 3 {
			h, err := b.Start(t.Context(), b.task(t, fmt.Sprintf("%s/%d", marker, n), "sleep "+marker))
			if err == nil {
				handles = append(handles, h)
			}
		}
		<-killed
		for _, h := range handles {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if err := h.Stop(ctx, "SIGKILL", 0); err != nil && !errors.Is(err, driver.ErrTaskLost) {
				t.Logf("stop: %v", err)
			}
			if err := h.Destroy(ctx); err != nil {
				t.Error(err)
			}
			cancel()
		}
		// A start whose answer was lost was repeated: end what the supervisor has.
		kept, err := b.client.Kept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range kept {
			if err := b.client.End(t.Context(), id, 0); err != nil {
				t.Error(err)
			}
		}
		wait.Until(t, "nothing is left of "+marker, func() bool {
			return len(remains(dir, marker)) == 0
		})
	}
}

func TestContainersSurviveAnUpgradeOfTheSupervisor(t *testing.T) {
	b := newBed(t, nil)
	task := b.task(t, "a/upgraded/0", "wait , exit 6")
	h := b.start(t, task)
	wait.Until(t, "it waits", func() bool { return strings.Contains(output(t, task), "waiting") })
	var out bytes.Buffer
	ended := make(chan error, 1)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"/bin/tool", "copy"}, Stdin: r, Stdout: &out})
		ended <- err
	}()
	if _, err := w.WriteString("through the upgrade\n"); err != nil {
		t.Fatal(err)
	}
	if err := b.client.Upgrade(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	again, err := b.Recover(t.Context(), task)
	if err != nil || again.PID() != h.PID() {
		t.Fatalf("recovered process %v, %v", again, err)
	}
	w.Close()
	if err := <-ended; err != nil || out.String() != "through the upgrade\n" {
		t.Errorf("the command beside it: %v, %q", err, out.String())
	}
	if code, err := again.Exec(t.Context(), driver.Exec{Argv: []string{"/bin/tool", "exit", "4"}}); code != 4 || err != nil {
		t.Errorf("a command after the upgrade: %d, %v", code, err)
	}
	if err := again.Signal(t.Context(), "SIGTERM"); err != nil {
		t.Error(err)
	}
	if exit, err := again.Wait(t.Context()); err != nil || exit.Code != 6 {
		t.Errorf("%v, exit %+v", err, exit)
	}
	if err := again.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	wait.Until(t, "nothing is left", func() bool { return len(remains(b.client.Dir(), "upgraded")) == 0 })
}

func TestACommandEndsWithItsClient(t *testing.T) {
	b := newBed(t, nil)
	h := b.start(t, b.task(t, "a/commands/0", "sleep"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	const marker = "lost-command-of-a-test"
	go func() {
		_, err := h.Exec(ctx, driver.Exec{Argv: []string{"/bin/tool", "sleep", marker}})
		ended <- err
	}()
	wait.Until(t, "the command runs", func() bool { return len(remains("/nowhere", marker)) > 0 })
	cancel()
	if err := <-ended; err == nil {
		t.Error("the command ended without an error")
	}
	wait.Until(t, "the command has ended", func() bool { return len(remains("/nowhere", marker)) == 0 })
	if err := h.Stop(t.Context(), "SIGTERM", 10*time.Second); err != nil {
		t.Error(err)
	}
	if exit, err := h.Wait(t.Context()); err != nil || exit.Code == 0 {
		t.Errorf("%v, exit %+v", err, exit)
	}
}

func TestTerminalsOfCommands(t *testing.T) {
	b := newBed(t, nil)
	h := b.start(t, b.task(t, "a/terminal/0", "sleep"))
	sizes := make(chan driver.Size, 1)
	sizes <- driver.Size{Rows: 33, Cols: 99}
	var out bytes.Buffer
	wait.Until(t, "the terminal has the size", func() bool {
		out.Reset()
		select {
		case sizes <- driver.Size{Rows: 33, Cols: 99}:
		default:
		}
		code, err := h.Exec(t.Context(), driver.Exec{Argv: strings.Fields("/bin/tool tty , size , exit 3"), TTY: true, Stdout: &out, Resize: sizes})
		if code != 3 || err != nil {
			t.Fatalf("%d, %v, %q", code, err, out.String())
		}
		return strings.Contains(out.String(), "rows 33 columns 99")
	})
	if err := h.Stop(t.Context(), "SIGKILL", 0); err != nil {
		t.Error(err)
	}
	supervisetest.EndImmediately()
}
