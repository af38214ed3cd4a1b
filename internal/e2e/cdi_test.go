// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestContainerHoldsDevicesOfCDI: the holders get what the specification of a vendor says, one device each, and nobody gets
// a device whose specification wants a program to run.
func TestContainerHoldsDevicesOfCDI(t *testing.T) {
	t.Parallel()
	m, image := unstartedContainerMachine(t, nil)
	specs, files := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "version"), []byte("7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	device := func(name, host, more string) string {
		return fmt.Sprintf(`{"name": %q, "containerEdits": {"deviceNodes": [{"path": "/dev/acme/%[1]s", "hostPath": %q, "permissions": "rw"}], "env": ["SENSOR=%[1]s"]%[3]s}}`, name, host, more)
	}
	for name, spec := range map[string]string{
		"sensor.json": `{"cdiVersion": "0.6.0", "kind": "acme.test/sensor", "devices": [` + device("a", "/dev/zero", "") + `, ` + device("b", "/dev/full", "") +
			`], "containerEdits": {"env": ["ACME=yes"], "mounts": [{"hostPath": "` + files + `", "containerPath": "/opt/acme"}]}}`,
		"hook.json": `{"cdiVersion": "0.6.0", "kind": "acme.test/hook", "devices": [` + device("h", "/dev/zero", `, "hooks": [{"hookName": "createContainer", "path": "/bin/true"}]`) + `]}`,
	} {
		if err := os.WriteFile(filepath.Join(specs, name), []byte(spec), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m.Args = append(m.Args, "-config", writeConfig(t, fmt.Sprintf("client {\n  cdi_spec_dirs = [%q]\n}\n", specs)))
	m.start()
	m.waitReady()
	asks := func(id, name string, count int) *api.Job {
		job := containerJob(id, image, count, "env SENSOR , env ACME , ls /dev/acme , cat /opt/acme/version , try write /opt/acme/version 8 , wait")
		job.Groups[0].Tasks[0].Resources.Devices = []*api.DeviceRequest{{Name: name}}
		return job
	}
	m.register(asks("listen", "acme.test/sensor", 2))
	seen := map[string]bool{}
	for _, alloc := range m.allocations("listen", "runs", running(2)) {
		m.eventually("the log of "+alloc.ID, func(context.Context) error {
			got := m.taskLog(alloc.ID, "stdout")
			for _, id := range []string{"a", "b"} {
				if strings.HasPrefix(got, fmt.Sprintf("SENSOR=%s\nACME=yes\n%[1]s\n7\n", id)) && strings.Contains(got, "read-only file system\nwaiting\n") {
					seen[id] = true
					return nil
				}
			}
			return fmt.Errorf("the log is %q", got)
		})
	}
	if len(seen) != 2 {
		t.Errorf("two holders have the devices %v", seen)
	}
	for id, name := range map[string]string{"third": "acme.test/sensor", "hooked": "acme.test/hook"} {
		m.register(asks(id, name, 1))
		m.eventually("the reason why "+id+" waits", func(context.Context) error {
			if out := m.reeve("job", "explain", id); !strings.Contains(out, name) {
				return fmt.Errorf("it is:\n%s", out)
			}
			return nil
		})
	}
	if out := m.reeve("node", "status", "-self", "-verbose"); !strings.Contains(out, "createContainer") {
		t.Errorf("the status of the node does not name the hook:\n%s", out)
	}
}
