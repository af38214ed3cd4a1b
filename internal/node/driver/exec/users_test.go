// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver/exec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// TestGatesRefuseUsers also tries the driver itself, which must work although its own trial has a user that is not listed.
func TestGatesRefuseUsers(t *testing.T) {
	if _, ok := open(t); !ok {
		return
	}
	denied, err := api.ParseIDRanges("0")
	if err != nil {
		t.Fatal(err)
	}
	d := exec.New(supervisetest.Connect(t), exec.Config{Users: api.DriverUsers{DeniedUIDs: denied, Allowed: []string{"daemon", "root"}}})
	if s := d.Fingerprint(t.Context()); !s.Healthy || s.Attributes["driver.exec.denied_host_uids"] != "0" || s.Attributes["driver.exec.user"] != "nobody" {
		t.Fatalf("got %+v", s)
	}
	for user, want := range map[string]string{"root": "denied_host_uids in client { exec { } }", "65534": "allowed_users in client { exec { } }", "": "user \"nobody\" is not permitted"} {
		task := supervisetest.Task(t, "gate/"+user, supervisetest.Shell("true"))
		task.User = user
		if _, err := d.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("user %s: %v, want %q", user, err, want)
		}
	}
	task := supervisetest.Task(t, "listed", supervisetest.Shell("id -un"))
	task.User = "daemon"
	if out, exit := run(t, d, task); out != "daemon\n" || exit.Code != 0 {
		t.Errorf("a listed user: %q, %+v", out, exit)
	}
}
