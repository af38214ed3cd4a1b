// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver/rawexec"
)

func TestUsersOfDriversAreConfigured(t *testing.T) {
	c, err := LoadConfig([]string{writeConfig(t, "a.hcl", `
client {
  raw_exec {
    enabled          = false
    allowed_users    = ["app"]
    denied_host_uids = "0,1000-2000"
    denied_host_gids = "5"
  }
  exec {
    denied_host_uids = "0"
  }
}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := rawexec.Config{Off: true, Users: api.DriverUsers{
		Allowed: []string{"app"}, DeniedUIDs: api.IDRanges{{0, 0}, {1000, 2000}}, DeniedGIDs: api.IDRanges{{5, 5}},
	}}
	if d := cmp.Diff(want, c.Client.RawExec); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(api.DriverUsers{DeniedUIDs: api.IDRanges{{0, 0}}}, c.Client.ExecUsers); d != "" {
		t.Error(d)
	}
	for text, wanted := range map[string]string{
		`raw_exec { denied_host_uids = "root" }`: `raw_exec: denied_host_uids: "root"`,
		`exec { denied_host_gids = "9-1" }`:      `exec: denied_host_gids: "9-1"`,
		`exec { allowed_users = ["a,b"] }`:       "allowed_users",
		`exec { enabled = false }`:               "enabled",
	} {
		if _, err := LoadConfig([]string{writeConfig(t, "b.hcl", "client {\n"+text+"\n}")}); err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%s: %v, want %q", text, err, wanted)
		}
	}
}
