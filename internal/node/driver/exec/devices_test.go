// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// zero makes a device of zeros that only root may open; "": this machine forbids it.
func zero(t *testing.T) string {
	t.Helper()
	path := filepath.Join(supervisetest.Dir(t), "gpu")
	if err := unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))); err != nil {
		t.Logf("this machine forbids new devices: %v", err)
		return ""
	}
	return path
}

func TestATaskOpensOnlyTheDevicesThatItHolds(t *testing.T) {
	d, ok := open(t)
	device := zero(t)
	if !ok || device == "" {
		return
	}
	const script = `head -c 2 /dev/acme/gpu0 | od -An -tx1; stat -c '%a %U' /dev/acme/gpu0 /dev/acme/gpu1
echo x > /dev/acme/gpu0 && echo written; (echo x > /dev/acme/gpu1) 2>/dev/null || echo read only; mknod /tmp/own c 1 5 2>/dev/null || echo no other`
	task := supervisetest.Task(t, "a/held/0", supervisetest.Shell(script))
	task.Devices = []driver.Device{
		{Source: device, Target: "/dev/acme/gpu0", Permissions: "rw"}, {Source: device, Target: "/dev/acme/gpu1", Permissions: "r"},
	}
	want := " 00 00\n600 nobody\n400 nobody\nwritten\nread only\nno other\n"
	if got, exit := run(t, d, task); got != want || exit.Code != 0 {
		t.Errorf("exit %+v, output\n%s\nwant\n%s", exit, got, want)
	}
	task = supervisetest.Task(t, "a/none/0", supervisetest.Shell("ls /dev/acme 2>/dev/null || echo none"))
	if got, _ := run(t, d, task); got != "none\n" {
		t.Errorf("a task without devices sees %q", got)
	}
}

func TestDevicesThatCannotBeGivenAreExplained(t *testing.T) {
	d, ok := open(t)
	device := zero(t)
	if !ok || device == "" {
		return
	}
	for want, dev := range map[string]driver.Device{
		"/dev/nothing-here":                       {Source: "/dev/nothing-here", Target: "/dev/x"},
		"/usr is not a device":                    {Source: "/usr", Target: "/dev/x"},
		"that path exists":                        {Source: device, Target: "/dev/null"},
		"a symbolic link or a file is on the way": {Source: device, Target: "/dev/fd/x"},
	} {
		task := supervisetest.Task(t, "a/refused/0", supervisetest.Shell("true"))
		dev.Permissions = "rw"
		task.Devices = []driver.Device{dev}
		if _, err := d.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v is answered with %v; want %q", dev, err, want)
		}
	}
}

func TestAConfinedTaskOpensItsDevices(t *testing.T) {
	d, ok := open(t)
	device := zero(t)
	if !ok || device == "" {
		return
	}
	config := supervisetest.Shell("head -c 1 /dev/acme | od -An -tx1")
	config["unveil"] = []any{}
	task := supervisetest.Task(t, "a/confined/0", config)
	task.Devices = []driver.Device{{Source: device, Target: "/dev/acme", Permissions: "rw"}}
	if h, err := d.Start(t.Context(), task); err != nil && strings.Contains(err.Error(), "Landlock") {
		t.Logf("the kernel has no Landlock: %v", err)
	} else if err != nil {
		t.Error(err)
	} else if _, err := h.Wait(t.Context()); err != nil {
		t.Error(err)
	} else if got := supervisetest.Output(t, task.Logs.StdoutPrefix) + supervisetest.Output(t, task.Logs.StderrPrefix); got != " 00\n" {
		t.Errorf("output %q", got)
	}
}
