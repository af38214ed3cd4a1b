// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/exec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

func TestMain(m *testing.M) { supervisetest.Main(m, nil) }

// open makes the driver, or, on a machine that cannot isolate, checks that it
// says so and reports false.
func open(t testing.TB) (*exec.Driver, bool) {
	t.Helper()
	d := exec.New(supervisetest.Connect(t), exec.Config{})
	s := d.Fingerprint(t.Context())
	if s.Healthy {
		return d, true
	}
	if s.Attributes["driver.exec"] != "" || s.HealthDescription == "" {
		t.Errorf("a driver that is not healthy must say why and publish nothing: %+v", s)
	}
	if _, err := d.Start(context.Background(), supervisetest.Task(t, "x", supervisetest.Shell("true"))); err == nil {
		t.Error("a task was started by a driver that is not healthy")
	}
	return d, false
}

// run runs a script to its end and returns what it printed.
func run(t testing.TB, d *exec.Driver, task *driver.Task) (string, driver.Exit) {
	t.Helper()
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return supervisetest.Output(t, task.Logs.StdoutPrefix) + supervisetest.Output(t, task.Logs.StderrPrefix), exit
}

func TestSeesItsOwnMachine(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "a/web/0", supervisetest.Shell(`
		echo "pid $$"; id -u; pwd
		ls -d /proc/[0-9]* | wc -l
		grep -E '^(NoNewPrivs|CapEff|CapBnd)' /proc/self/status
		touch /usr/x 2>&1 | grep -o 'Read-only file system'
		touch /etc/passwd 2>&1 | grep -o 'Permission denied'
		ls /root /home /work /var 2>&1 | grep -c 'No such file'
		echo data > /local/file; echo tmp > /tmp/file; echo s > /secrets/file; echo scratch > /scratch
		echo "to a device" > /dev/stdout; echo x > /dev/null
		mount -t tmpfs none /tmp 2>/dev/null || echo no mount
	`))
	got, exit := run(t, d, task)
	want := `pid 1
65534
/
3
CapEff:	0000000000000000
CapBnd:	00000000a00405fb
NoNewPrivs:	1
Read-only file system
Permission denied
4
to a device
no mount
`
	if diff := cmp.Diff(want, got); diff != "" || exit.Code != 0 {
		t.Errorf("exit %+v, output (-want +got):\n%s", exit, diff)
	}
}

func TestExecEntersTheTask(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "a/web/0", supervisetest.Shell("echo here > /local/file; exec sleep 1000"))
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	script := `until [ -s /local/file ]; do sleep 0.01; done; cat /local/file; id -u; cat /proc/1/cmdline | tr '\0' ' '; echo; grep NoNewPrivs /proc/self/status; exit 9`
	code, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"sh", "-c", script}, Stdout: &out, Stderr: &errOut})
	if err != nil || code != 9 {
		t.Fatalf("exec: code %d, %v, %s", code, err, &errOut)
	}
	if want := "here\n65534\nsleep 1000 \nNoNewPrivs:\t1\n"; out.String() != want {
		t.Errorf("output %q, want %q", &out, want)
	}
	begin := time.Now()
	if err := h.Stop(t.Context(), "SIGINT", time.Minute); err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil || exit.Signal != 2 || time.Since(begin) > 20*time.Second {
		t.Errorf("exit %+v, %v after %v; want SIGINT at once", exit, err, time.Since(begin))
	}
}
