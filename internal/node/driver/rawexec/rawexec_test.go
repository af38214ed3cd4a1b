// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package rawexec_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/rawexec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

func TestMain(m *testing.M) { supervisetest.Main(m, nil) }

func TestRunsToTheEndWithOutputAndCode(t *testing.T) {
	d := rawexec.New(supervisetest.Connect(t))
	task := supervisetest.Task(t, "a/web/0", supervisetest.Shell(`echo "$GREETING out"; echo err >&2; pwd; exit 3`))
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil || exit.Code != 3 || exit.Signal != 0 || exit.OOMKilled {
		t.Fatalf("exit %+v, %v; want code 3", exit, err)
	}
	if got, want := supervisetest.Output(t, task.Logs.StdoutPrefix), "hello out\n"+task.Dir.Task+"\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if got := supervisetest.Output(t, task.Logs.StderrPrefix); got != "err\n" {
		t.Errorf("stderr %q", got)
	}
	if err := h.Destroy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Recover(t.Context(), task); err != driver.ErrTaskUnknown {
		t.Errorf("recover after destroy: %v, want ErrTaskUnknown", err)
	}
}

func TestStartErrorsSayWhatToDo(t *testing.T) {
	d := rawexec.New(supervisetest.Connect(t))
	for name, c := range map[string]struct {
		config map[string]any
		user   string
		want   string
	}{
		"no command":     {map[string]any{}, "", "config has no command"},
		"unknown":        {map[string]any{"command": "no-such-thing"}, "", "command not found: no-such-thing (looked in "},
		"not executable": {map[string]any{"command": "/etc/passwd"}, "", "permission denied: /etc/passwd is not executable"},
		"directory":      {map[string]any{"command": "/etc"}, "", "/etc is a directory"},
		"user":           {supervisetest.Shell("true"), "nobody-of-that-name", "user nobody-of-that-name does not exist"},
		"args":           {map[string]any{"command": "true", "args": "x"}, "", "config args must be a list of strings"},
		"work_dir":       {map[string]any{"command": "true", "work_dir": "/no/such/dir"}, "", "working directory /no/such/dir does not exist"},
	} {
		task := supervisetest.Task(t, name, c.config)
		task.User = c.user
		_, err := d.Start(t.Context(), task)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if _, err := d.Recover(t.Context(), task); err != driver.ErrTaskUnknown {
			t.Errorf("%s: recover of what did not start: %v", name, err)
		}
	}
}

func TestExecSharesTheTasksSurroundings(t *testing.T) {
	d := rawexec.New(supervisetest.Connect(t))
	task := supervisetest.Task(t, "a/web/0", supervisetest.Shell("sleep 1000"))
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	code, err := h.Exec(t.Context(), driver.Exec{
		Argv: []string{"sh", "-c", `cat; echo "$GREETING $MORE"; pwd; echo oops >&2; exit 7`}, Env: []string{"MORE=more"},
		Stdin: strings.NewReader("typed\n"), Stdout: &out, Stderr: &errOut,
	})
	if err != nil || code != 7 {
		t.Fatalf("exec: code %d, %v", code, err)
	}
	if want := "typed\nhello more\n" + task.Dir.Task + "\n"; out.String() != want {
		t.Errorf("stdout %q, want %q", &out, want)
	}
	if errOut.String() != "oops\n" {
		t.Errorf("stderr %q", &errOut)
	}
	if err := h.Stop(t.Context(), "SIGTERM", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil || exit.Signal != 15 || exit.Code != 143 {
		t.Errorf("exit %+v, %v; want SIGTERM", exit, err)
	}
	if _, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"true"}}); err == nil {
		t.Error("exec into an ended task succeeded")
	}
}

func TestRunsAsAnotherUser(t *testing.T) {
	c := supervisetest.Connect(t)
	d := rawexec.New(c)
	task := supervisetest.Task(t, "t", supervisetest.Shell(`id -u; id -g; echo mine > local/file; echo through a device > /dev/stdout; cat /etc/shadow 2>/dev/null`))
	task.User = "daemon"
	h, err := d.Start(t.Context(), task)
	if !c.Machine().Root {
		if err == nil || !strings.Contains(err.Error(), "the agent does not run as root") {
			t.Errorf("start without root: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := supervisetest.Output(t, task.Logs.StdoutPrefix), "1\n1\nthrough a device\n"; got != want {
		t.Errorf("printed %q, want %q; stderr %q", got, want, supervisetest.Output(t, task.Logs.StderrPrefix))
	}
}

func TestFingerprintSaysWhatCgroupsDo(t *testing.T) {
	c := supervisetest.Connect(t)
	s := rawexec.New(c).Fingerprint(t.Context())
	if !s.Healthy || s.Attributes["driver.raw_exec"] != "1" || s.Attributes["cgroup.version"] != c.Machine().CgroupVersion {
		t.Errorf("fingerprint %+v", s)
	}
}

func TestRecoverFindsTheSameProcess(t *testing.T) {
	dir := supervisetest.Dir(t)
	t.Cleanup(func() { supervisetest.Shutdown(t, dir) })
	task := supervisetest.Task(t, "t", supervisetest.Shell("exec sleep 1000"))
	first := supervisetest.ConnectTo(t, dir)
	h, err := rawexec.New(first).Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	d := rawexec.New(supervisetest.ConnectTo(t, dir))
	again, err := d.Recover(t.Context(), task)
	if err != nil || again.PID() != h.PID() {
		t.Fatalf("recovered %v, %v; want process %d", again, err, h.PID())
	}
	var out bytes.Buffer
	if code, err := again.Exec(t.Context(), driver.Exec{Argv: []string{"sh", "-c", "pwd"}, Stdout: &out}); err != nil || code != 0 || out.String() != task.Dir.Task+"\n" {
		t.Errorf("exec: %d, %v, %q", code, err, &out)
	}
}
