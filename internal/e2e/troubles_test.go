// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// trouble waits until a job has a trouble of that kind.
func (m *machine) trouble(job string, kind api.TroubleKind) *api.Trouble {
	m.t.Helper()
	var found *api.Trouble
	m.eventually(fmt.Sprintf("%s has trouble %s", job, kind), func(ctx context.Context) error {
		all, _, err := m.Client.Jobs().Troubles(ctx, job, nil)
		if err != nil {
			return err
		}
		var lines []string
		for _, t := range all {
			if t.Kind == kind {
				found = t
				return nil
			}
			lines = append(lines, string(t.Kind)+" "+t.String())
		}
		return fmt.Errorf("its troubles are %q", lines)
	})
	return found
}

// brokenJob is a service that is given up soon, of example web servers with a
// check, that does not restart what crashes more than it must.
func brokenJob(id string, change func(*api.Group)) *api.Job {
	job := testbed.Job(id, "raw_exec", 1, map[string]any{"command": reeve, "args": []string{"example-web"}})
	g := job.Groups[0]
	g.Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	g.Update.HealthyDeadline, g.Update.ProgressDeadline = ptr(20*time.Second), ptr(25*time.Second)
	g.Restart = &api.Restart{Attempts: ptr(100), Interval: ptr(time.Hour), Delay: ptr(2 * time.Second), Mode: ptr("delay")}
	g.Services = []*api.Service{{Name: id, PortLabel: "http", Provider: "nomad", Checks: []*api.Check{{
		Name: "http", Type: "http", Path: "/healthz", Interval: time.Second, Timeout: time.Second,
	}}}}
	change(g)
	return job
}

// TestTroublesOfProgramsThatFail runs programs that fail in the usual ways, and
// asks what goes wrong.
func TestTroublesOfProgramsThatFail(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	foreign, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	taken := foreign.Addr().(*net.TCPAddr).Port
	shell := func(script string) func(*api.Group) {
		return func(g *api.Group) {
			g.Services = nil
			g.Tasks[0].Config = map[string]any{"command": "/bin/sh", "args": []string{"-c", script}}
		}
	}
	cases := []struct {
		kind   api.TroubleKind
		change func(*api.Group)
		words  []string // of the message
		also   func(*api.Trouble) bool
	}{
		{api.TroubleStart, func(g *api.Group) { g.Tasks[0].Config = map[string]any{"command": "/no/such/command"} },
			[]string{`task "task"`, "/no/such/command"}, func(t *api.Trouble) bool { return t.Log == "" }},
		{api.TroubleExited, shell("echo Traceback: no module >&2; exit 3"),
			[]string{"exited with code 3"}, func(t *api.Trouble) bool { return t.ExitCode == 3 && t.Log == api.LogStderr }},
		{api.TroubleKilled, shell("kill -ABRT $$"),
			[]string{"signal 6"}, func(t *api.Trouble) bool { return t.Signal == 6 }},
		{api.TroubleCheckFailed, func(g *api.Group) { g.Services[0].Checks[0].Path = "/nothing" },
			[]string{`check "http" of service "check_failed" fails`, "404"}, func(t *api.Trouble) bool { return t.StatusCode == 404 }},
		{api.TroubleWrongAddress, func(g *api.Group) {
			g.Tasks[0].Config["args"] = []string{"example-web", "-listen", "127.0.0.9:${NOMAD_PORT_http}"}
		}, []string{"127.0.0.9:", "refused"}, func(t *api.Trouble) bool { return t.Check == "http" }},
		{api.TroublePortTaken, func(g *api.Group) {
			g.Networks[0] = &api.Network{ReservedPorts: []api.Port{{Label: "http", Value: taken}}}
		}, []string{fmt.Sprintf("port %d is taken", taken), "e2e.test"}, func(t *api.Trouble) bool { return t.ExitCode == 1 }},
		{api.TroubleCheckRefused, func(g *api.Group) {
			g.Tasks[0].Config = map[string]any{"command": "/bin/sleep", "args": []string{"3600"}}
		},
			[]string{"refused"}, func(t *api.Trouble) bool { return t.Task == "task" }},
		{api.TroubleOutOfMemory, func(g *api.Group) {
			shell("exec tail /dev/zero")(g)
			g.Tasks[0].Driver, g.Tasks[0].Resources.MemoryMB = "exec", ptr(32)
		}, []string{"out of memory"}, func(t *api.Trouble) bool { return t.Task == "task" && t.Count > 0 }},
		{api.TroubleTimeout, func(g *api.Group) {
			shell("sleep 3600")(g)
			g.Tasks[0].Timeout = ptr(time.Second)
		}, []string{"exceeded 1s timeout"}, func(t *api.Trouble) bool { return t.Task == "task" }},
		{api.TroubleSetup, func(g *api.Group) {
			shell("sleep 3600")(g)
			g.Tasks[0].User = "no-such-user"
		}, []string{`user "no-such-user" does not exist`}, func(t *api.Trouble) bool { return t.Log == "" }},
		{api.TroubleNoRoom, func(g *api.Group) { g.Tasks[0].Resources.MemoryMB = ptr(1 << 30) },
			[]string{"no node can take it", "memory"}, func(t *api.Trouble) bool { return len(t.Obstacles) == 1 }},
	}
	for _, c := range cases {
		m.register(brokenJob(string(c.kind), c.change))
	}
	for _, c := range cases {
		got := m.trouble(string(c.kind), c.kind)
		for _, words := range c.words {
			if !strings.Contains(got.Message, words) {
				t.Errorf("%s: %q does not say %q", c.kind, got.Message, words)
			}
		}
		if !c.also(got) || got.Instance != "main-0" || got.Instances != 1 {
			t.Errorf("%s: got %+v", c.kind, got)
		}
		if (got.Allocation == "" || got.NodeName == "") != (c.kind == api.TroubleNoRoom) {
			t.Errorf("%s: allocation %q on node %q", c.kind, got.Allocation, got.NodeName)
		}
	}
	said := m.trouble("exited", api.TroubleExited)
	m.eventually("the log says what the task said last", func(ctx context.Context) error {
		lines, err := m.Client.FS().Tail(ctx, said.Allocation, said.Task, said.Log, 10)
		if err != nil || len(lines) == 0 || slices.ContainsFunc(lines, func(l string) bool { return l != "Traceback: no module" }) {
			return fmt.Errorf("%q, %v", lines, err)
		}
		return nil
	})
	// A deployment that fails keeps why.
	m.eventually("the deployment fails", func(ctx context.Context) error {
		d, _, err := m.Client.Jobs().LatestDeployment(ctx, "check_failed", nil)
		if err != nil || d == nil || d.Status != api.DeploymentFailed {
			return fmt.Errorf("%+v, %v", d, err)
		}
		if len(d.Troubles) != 1 || d.Troubles[0].StatusCode != 404 || !strings.HasPrefix(d.Troubles[0].String(), `main-0: check "http"`) {
			t.Errorf("its troubles are %+v", d.Troubles)
		}
		return nil
	})
	// Lists count them.
	list, _, err := m.Client.Jobs().List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range list {
		s := j.JobSummary.Summary["main"]
		if fails := strings.HasPrefix(j.ID, "check_") || j.ID == "wrong_address"; s.Failing != map[bool]int{true: 1}[fails] {
			t.Errorf("%s: %d instances fail checks", j.ID, s.Failing)
		}
	}
}
