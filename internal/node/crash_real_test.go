// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// crashOf waits until the servers know why an allocation crashed.
func (r *real) crashOf(t *testing.T, id string) string {
	t.Helper()
	var why string
	eventually(t, id+" crashes", func() bool {
		if a := r.servers.last(id); a != nil && a.Crashes != nil {
			why = a.Crashes.Reason
		}
		return why != ""
	})
	return why
}

// once is a task that is not tried again.
func once(driver, script string) *api.Task {
	task, none := shell("t", script), 0
	task.Driver, task.Restart = driver, &api.Restart{Attempts: &none}
	return task
}

func matches(t *testing.T, what, pattern, got string) {
	t.Helper()
	if !regexp.MustCompile("^" + pattern + "$").MatchString(got) {
		t.Errorf("%s: %q does not match %q", what, got, pattern)
	}
}

func TestRealWordsOfCrashesOfProcesses(t *testing.T) {
	const after = ` after ([0-9]+ms|[0-9.]+s)`
	r, small := runReal(t), 20
	for name, c := range map[string]struct{ driver, script, want string }{
		"exit":            {"raw_exec", "exit 17", `task "t": exited with code 17` + after},
		"exit, isolated":  {"exec", "exit 17", `task "t": exited with code 17` + after},
		"ends too soon":   {"raw_exec", "true", `task "t": exited with code 0` + after + `, although it is to keep running`},
		"signal":          {"raw_exec", "kill -SEGV $$; sleep 60", `task "t": ended by signal 11 \(SIGSEGV\)` + after},
		"killed":          {"raw_exec", "kill -KILL $$; sleep 60", `task "t": ended by signal 9 \(SIGKILL\)` + after},
		"nothing to run":  {"raw_exec", "", `task "t": .*command not found: /no/such/program.*`},
		"out of memory":   {"exec", `x=0123456789abcdef; while :; do x="$x$x"; done`, `task "t": out of memory of 20 MB: killed by the kernel \(exit code 137\)` + after},
		"system's driver": {"podman", "true", `task "t": .*this node has no driver "podman"`},
	} {
		if c.driver == "exec" && !r.isolates {
			continue
		}
		task := once(c.driver, c.script)
		if c.script == "" {
			task.Config = map[string]any{"command": "/no/such/program"}
		}
		task.Resources = &api.Resources{CPU: &small, MemoryMB: &small}
		if name == "out of memory" && !r.supervisor.Machine().Has("memory") {
			c.want = `task "t": .* with code 2` + after // the shell is told that there is no more
		}
		job := jobOf("service", task)
		job.ID = name
		r.place(t, job, name)
		matches(t, name, c.want, r.crashOf(t, name))
	}
}

// A command that hangs is ended when its time is over, with what it started.
func TestRealACheckThatHangsIsEnded(t *testing.T) {
	r := runReal(t)
	for _, driver := range []string{"raw_exec", "exec"} {
		if driver == "exec" && !r.isolates {
			continue
		}
		task := once(driver, "exec sleep 60")
		task.Monitor = &api.Monitor{
			Command: "/bin/sh", Args: []string{"-c", "sleep 1000 & echo $! $$ >> ${NOMAD_TASK_DIR}/asked; echo asking; wait"},
			Interval: time.Second, Timeout: time.Second,
		}
		if driver == "exec" {
			task.Config["pid_mode"] = "host" // so that the numbers are those of the host
		}
		job := jobOf("service", task)
		job.ID = driver
		r.place(t, job, driver)
		var pids []string
		eventually(t, driver+": the command has said who it is", func() bool { // it may be asked again and again
			text, _ := os.ReadFile(filepath.Join(r.dirs.Task(driver, "t").Local, "asked"))
			pids = strings.Fields(string(text))
			return len(pids) >= 2
		})
		for _, word := range pids {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, driver+": the command has ended", func() bool { return len(testbed.CommandLine(pid)) == 0 })
		}
		eventually(t, driver+": that is told", func() bool {
			checks, err := r.client.Allocations().Checks(t.Context(), driver)
			for _, c := range checks {
				return err == nil && c.Status == api.CheckStatusFailure && strings.HasPrefix(c.Output, "script: /bin/sh: no answer within ")
			}
			return false
		})
	}
}

// A task with a root and process numbers of its own is asked inside of them.
func TestRealCommandsOfChecksRunInTheTasksNamespaces(t *testing.T) {
	r := runReal(t)
	if !r.isolates {
		return
	}
	task := once("exec", "echo mine > /local/f; readlink /proc/self/ns/pid > /local/ns; exec sleep 60")
	task.Services = []*api.Service{{Name: "s", Checks: []*api.Check{{
		Name: "inside", Type: api.CheckScript, Command: "/bin/sh", Kind: api.CheckKindReadiness, Interval: time.Second, Timeout: 5 * time.Second,
		Args: []string{"-c", `read f < /local/f; read ns < /local/ns; echo "$f; $NOMAD_TASK_DIR"; test "$ns" = "$(readlink /proc/self/ns/pid)"`},
	}}}}
	r.place(t, jobOf("service", task), "one")
	r.servers.serving(t, "one", routable)
	checks, err := r.client.Allocations().Checks(t.Context(), "one")
	if err != nil || len(checks) != 1 {
		t.Fatalf("checks: %+v, %v", checks, err)
	}
	for _, c := range checks {
		want(t, "output", "mine; /local", c.Output)
	}
	if own, err := os.Readlink("/proc/self/ns/pid"); err != nil || strings.Contains(r.readFile(t, "one", "ns"), own) {
		t.Errorf("the task is in the test's own pid namespace %s, %v", own, err)
	}
}

func (r *real) readFile(t *testing.T, id, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dirs.Task(id, "t").Local, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
