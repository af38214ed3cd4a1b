// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
)

// TestAContainerOpensTheDevicesThatItsTaskHolds gives a device to containers with users of their own and with the
// host's, although the operator permits no privileges.
func TestAContainerOpensTheDevicesThatItsTaskHolds(t *testing.T) {
	device := filepath.Join(t.TempDir(), "null")
	if err := unix.Mknod(device, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err != nil {
		t.Logf("this machine forbids new devices: %v", err)
		return
	}
	for name, change := range map[string]func(*container.Config){
		"own-users": nil, "host-users": func(c *container.Config) { c.AllowPrivileged = true },
	} {
		b := newBed(t, change)
		for _, user := range []string{"", "77:88"} {
			config := map[string]any{}
			if change != nil {
				config["userns_mode"] = "host"
			}
			task := b.task(t, "a/held-"+name+user[:min(len(user), 2)]+"/0", "cat /dev/acme/gpu , overwrite /dev/acme/gpu , stat /dev/acme/gpu , try cat /dev/other", config)
			task.User = user
			task.Devices = []driver.Device{{Source: device, Target: "/dev/acme/gpu", Permissions: "rw"}}
			want := map[string]string{"": "/dev/acme/gpu 0:0 600\n", "77:88": "/dev/acme/gpu 77:88 600\n"}[user]
			if got, exit := b.run(t, task); !strings.Contains(got, want) || exit.Code != 0 {
				t.Errorf("%s, user %q: exit %+v, output:\n%s\nwant %q", name, user, exit, got, want)
			}
		}
	}
}
