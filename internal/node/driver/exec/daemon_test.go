// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// serving goes into the background, away from its session and its parent. It runs when the command
// that started it has ended, which until then receives the signals.
const serving = `cat > /local/daemon <<'END'
trap 'echo told; exit 3' TERM
id -u
grep CapEff /proc/self/status
while kill -0 $MAIN 2>/dev/null; do sleep 0.01; done
touch /local/runs
while [ ! -e /local/stop ]; do sleep 0.01; done
exit 7
END
MAIN=$$ setsid sh -c '(setsid sh /local/daemon &)'`

func startDaemon(t *testing.T, script string) (driver.Handle, *driver.Task, bool) {
	d, ok := open(t)
	if !ok {
		return nil, nil, false
	}
	task := supervisetest.Task(t, "a/d/1", supervisetest.Shell(script))
	task.Daemon = true
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return h, task, true
}

func appears(t *testing.T, path string) {
	t.Helper()
	wait.Until(t, path+" is there", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

func TestIsolatedDaemonGoesOnInTheBackground(t *testing.T) {
	h, task, ok := startDaemon(t, serving)
	if !ok {
		return
	}
	appears(t, task.Dir.Local+"/runs")
	// What asks whether it is well sees its surroundings.
	var out bytes.Buffer
	code, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"sh", "-c", "(ls /local; id -u) 2>&1"}, Stdout: &out})
	if err != nil || code != 0 || out.String() != "daemon\nruns\n65534\n" {
		t.Errorf("a command beside it: %d, %v, %q", code, err, out.String())
	}
	if err := os.WriteFile(task.Dir.Local+"/stop", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil || exit.Code != 7 {
		t.Errorf("exit %+v, %v; want the daemon's code 7", exit, err)
	}
	got := supervisetest.Output(t, task.Logs.StdoutPrefix)
	if want := "65534\nCapEff:\t0000000000000000\n"; got != want {
		t.Errorf("it runs as %q; want %q: without rights", got, want)
	}
}

func TestStoppingAnIsolatedDaemon(t *testing.T) {
	h, task, ok := startDaemon(t, serving)
	if !ok {
		return
	}
	appears(t, task.Dir.Local+"/runs")
	if err := h.Stop(t.Context(), "SIGTERM", time.Minute); err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil || exit.Code != 3 {
		t.Errorf("exit %+v, %v; want the end of a daemon that heeds the signal", exit, err)
	}
	if got := supervisetest.Output(t, task.Logs.StdoutPrefix); !strings.Contains(got, "told") {
		t.Errorf("output %q; want what it says to the signal", got)
	}
}

func TestIsolatedDaemonThatFails(t *testing.T) {
	for script, want := range map[string]int{"(setsid sleep 1000 &); exit 5": 5, "exit 0": 0, "kill -9 $$": 137} {
		h, _, ok := startDaemon(t, script)
		if !ok {
			return
		}
		if exit, err := h.Wait(t.Context()); err != nil || exit.Code != want {
			t.Errorf("%s: exit %+v, %v; want code %d", script, exit, err, want)
		}
	}
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "a/d/1", map[string]any{"command": "/bin/nothing"})
	task.Daemon = true
	if _, err := d.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), "/bin/nothing") {
		t.Errorf("start: %v; want the command that is not there", err)
	}
}
