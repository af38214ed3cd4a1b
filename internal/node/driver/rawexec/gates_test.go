// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package rawexec_test

import (
	"os"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver/rawexec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

func ranges(t *testing.T, text string) api.IDRanges {
	t.Helper()
	r, err := api.ParseIDRanges(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGatesRefuseUsers starts tasks whose users the operator forbids, in each way to name a user.
func TestGatesRefuseUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("only root runs tasks as other users")
		return
	}
	c := supervisetest.Connect(t)
	for name, test := range map[string]struct {
		rules api.DriverUsers
		user  string
		want  string // "": it starts
	}{
		"no rules":                     {api.DriverUsers{}, "", ""},
		"the agent's user":             {api.DriverUsers{DeniedUIDs: ranges(t, "0")}, "", "denied_host_uids in client { raw_exec { } }"},
		"root by name":                 {api.DriverUsers{DeniedUIDs: ranges(t, "0-99")}, "root", "user id 0"},
		"root by number":               {api.DriverUsers{DeniedUIDs: ranges(t, "0")}, "0", "user id 0"},
		"root with leading zeros":      {api.DriverUsers{DeniedUIDs: ranges(t, "0")}, "000", "user id 0"},
		"root with a sign":             {api.DriverUsers{DeniedUIDs: ranges(t, "0")}, "+0", "does not exist"},
		"root after a space":           {api.DriverUsers{DeniedUIDs: ranges(t, "0")}, " root", "does not exist"},
		"root in base 16":              {api.DriverUsers{DeniedUIDs: ranges(t, "0")}, "0x0", "does not exist"},
		"a number that overflows to 0": {api.DriverUsers{DeniedUIDs: ranges(t, "0")}, "4294967296", "does not exist"},
		"what leaves the user root":    {api.DriverUsers{DeniedUIDs: ranges(t, "0")}, "4294967295", "the user stays unchanged"},
		"a line of the database":       {api.DriverUsers{DeniedUIDs: ranges(t, "0")}, "root:x:0", "does not exist"},
		"another user":                 {api.DriverUsers{DeniedUIDs: ranges(t, "0")}, "nobody", ""},
		"a user without an entry":      {api.DriverUsers{DeniedUIDs: ranges(t, "54321")}, "54321", "user id 54321"},
		"a group":                      {api.DriverUsers{DeniedGIDs: ranges(t, "0")}, "root", "group id 0"},
		"the agent's groups":           {api.DriverUsers{DeniedGIDs: ranges(t, "0")}, "", "group id 0"},
		"a group of a number":          {api.DriverUsers{DeniedGIDs: ranges(t, "54321")}, "54321", "group id 54321"},
		"a user that is not listed":    {api.DriverUsers{Allowed: []string{"nobody"}}, "root", "allowed_users in client { raw_exec { } }"},
		"the agent's, not listed":      {api.DriverUsers{Allowed: []string{"nobody"}}, "", "allowed_users"},
		"a number of a listed user":    {api.DriverUsers{Allowed: []string{"nobody"}}, "65534", "allowed_users"},
		"a listed user":                {api.DriverUsers{Allowed: []string{"nobody"}}, "nobody", ""},
		"a listed user that is denied": {api.DriverUsers{Allowed: []string{"root"}, DeniedUIDs: ranges(t, "0")}, "root", "user id 0"},
	} {
		d := rawexec.NewGated(c, rawexec.Config{Users: test.rules})
		task := supervisetest.Task(t, "gate/"+name, supervisetest.Shell("true"))
		task.User = test.user
		h, err := d.Start(t.Context(), task)
		if err == nil {
			if _, err := h.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.Destroy(t.Context())
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestOperatorsTurnTheDriverOff(t *testing.T) {
	c := supervisetest.Connect(t)
	d := rawexec.NewGated(c, rawexec.Config{Off: true})
	s := d.Fingerprint(t.Context())
	if s.Healthy || s.Detected || s.Attributes["driver.raw_exec"] != "" || s.Attributes["cgroup.version"] == "" || !strings.Contains(s.HealthDescription, "enabled = true in client { raw_exec { } }") {
		t.Errorf("got %+v", s)
	}
	task := supervisetest.Task(t, "off", supervisetest.Shell("sleep 1h"))
	if _, err := d.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), "turned it off") {
		t.Errorf("start: %v", err)
	}
	// Tasks that ran before are found, and can be stopped.
	if _, err := rawexec.New(c).Start(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	h, err := d.Recover(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Stop(t.Context(), "SIGKILL", 0); err != nil {
		t.Error(err)
	}
}

// TestOOMScoreReachesAllProcesses reads the score of the task and of a child.
func TestOOMScoreReachesAllProcesses(t *testing.T) {
	d := rawexec.New(supervisetest.Connect(t))
	for score, want := range map[any]string{700: "700\n700\n", "1000": "1000\n1000\n"} {
		task := supervisetest.Task(t, "oom", supervisetest.Shell(`cat /proc/self/oom_score_adj; sh -c 'cat /proc/$$/oom_score_adj'`))
		task.Config["oom_score_adj"] = score
		h, err := d.Start(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := supervisetest.Output(t, task.Logs.StdoutPrefix); got != want {
			t.Errorf("%v: %q, want %q", score, got, want)
		}
		h.Destroy(t.Context())
	}
	for _, score := range []any{-1, 1001, "x"} {
		task := supervisetest.Task(t, "wrong", supervisetest.Shell("true"))
		task.Config["oom_score_adj"] = score
		if _, err := d.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), "oom_score_adj") {
			t.Errorf("%v: %v", score, err)
		}
	}
}
