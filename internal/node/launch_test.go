// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/rawexec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// launched is a message with an allocation's launches; index tells them apart.
func launched(j *api.Job, id string, index uint64, tasks map[string]*api.Launch) *api.NodeAllocations {
	m := placed(j, false, id)
	a := m.Allocations[0]
	a.AllocModifyIndex = index
	a.Launches = &api.Launches{ID: fmt.Sprint(index), Tasks: tasks}
	return m
}

// task waits for what the servers are told of a task.
func (s *fakeServers) task(t testing.TB, id, task, what string, is func(*api.TaskState) bool) {
	t.Helper()
	deadline := wait.Limit(t, 30*time.Second)
	for {
		s.mu.Lock()
		a, changed := s.latest[id], s.changed
		s.mu.Unlock()
		if a != nil && a.TaskStates[task] != nil && is(a.TaskStates[task]) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			if a != nil {
				t.Fatalf("waited for: %s; it is %+v", what, a.TaskStates[task])
			}
			t.Fatalf("waited for: %s; nothing is known of it", what)
		}
	}
}

func TestRealCustomRunInsideARunningAllocation(t *testing.T) {
	r := runReal(t)
	backup := shell("backup", `echo "to $TO: $(cat $NOMAD_ALLOC_DIR/data/rows)"; [ "$TO" = s3 ]`)
	backup.Goal, backup.Restart = api.GoalFinish, &api.Restart{Attempts: new(int)}
	j := jobOf("service", shell("server", `echo 42 > $NOMAD_ALLOC_DIR/data/rows; echo up; exec sleep 60`), backup)
	r.servers.messages <- launched(j, "one", 1, map[string]*api.Launch{"backup": {}})
	eventually(t, "the server has written its data", func() bool {
		a := r.servers.last("one")
		return a != nil && a.ClientStatus == api.AllocClientRunning && strings.Contains(r.logs(t, "one", "server"), "up")
	})
	pid := pidOfTask(t, r.running, "server")
	run := func(index uint64, token, to string, failed bool) {
		t.Helper()
		r.servers.messages <- launched(j, "one", index, map[string]*api.Launch{"backup": {Token: token, Alone: true, Env: map[string]string{"TO": to}}})
		r.servers.task(t, "one", "backup", "the end of run "+token, func(s *api.TaskState) bool {
			return s.State == api.TaskStateDead && s.Launch == token && s.Failed == failed
		})
	}
	run(2, "first", "s3", false)
	run(3, "second", "tape", true)
	run(4, "third", "s3", false)
	want(t, "output", "to s3: 42\nto tape: 42\nto s3: 42\n", r.logs(t, "one", "backup"))
	want(t, "server's process", pid, pidOfTask(t, r.running, "server"))
	want(t, "status", api.AllocClientRunning, r.servers.last("one").ClientStatus)
}

// pidOfTask is the process of a task of allocation one.
func pidOfTask(t *testing.T, n *running, task string) (pid int) {
	t.Helper()
	run, err := n.runner("one")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range run.Report().TaskStates[task].Events {
		if i := strings.LastIndex(e.DisplayMessage, "as process "); i >= 0 {
			fmt.Sscan(e.DisplayMessage[i+len("as process "):], &pid)
		}
	}
	return pid
}

func TestRealLaunchGoesOnWithTheNextAgent(t *testing.T) {
	supervisor := supervisetest.Connect(t)
	drivers := func() map[string]driver.Driver { return map[string]driver.Driver{"raw_exec": rawexec.New(supervisor)} }
	s, dir := newServers(), t.TempDir()
	n := run(t, dir, s, drivers())
	// It takes its time to end, so that the agent ends in between.
	timeout := 20 * time.Second
	task := shell("t", `trap 'while [ ! -e $NOMAD_ALLOC_DIR/go ]; do sleep 0.02; done; exit 3' INT; : > $NOMAD_ALLOC_DIR/trapped; while :; do sleep 0.02; done`)
	task.KillTimeout, task.Restart = &timeout, &api.Restart{Attempts: new(int)}
	j := jobOf("service", task)
	s.messages <- placed(j, false, "one")
	s.until(t, api.AllocClientRunning, 1)
	eventually(t, "the task waits for its signal", func() bool {
		_, err := os.Stat(n.dirs.Root("one") + "/alloc/trapped")
		return err == nil
	})
	s.messages <- launched(j, "one", 2, map[string]*api.Launch{"t": {Token: "again"}})
	first, err := n.runner("one")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the task is told to end", func() bool {
		events := first.Report().TaskStates["t"].Events
		return events[len(events)-1].Type == api.EventKilling
	})
	n.stop()

	if err := os.WriteFile(n.dirs.Root("one")+"/alloc/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	next := run(t, dir, s, drivers())
	s.task(t, "one", "t", "the new run", func(x *api.TaskState) bool { return x.State == api.TaskStateRunning && x.Launch == "again" })
	s.messages <- launched(j, "one", 2, map[string]*api.Launch{"t": {Token: "again"}}) // as a server does
	want(t, "restarts", uint64(1), s.last("one").TaskStates["t"].Restarts)
	if err := next.StopAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	next.stop()
}

// BenchmarkLaunchToReport measures from the arrival of a launch to the report
// that its process, a real one, has ended.
func BenchmarkLaunchToReport(b *testing.B) {
	supervisor := supervisetest.Connect(b)
	s := newServers()
	n := run(b, b.TempDir(), s, map[string]driver.Driver{"raw_exec": rawexec.New(supervisor)})
	defer n.stop()
	task := &api.Task{Name: "t", Driver: "raw_exec", Goal: api.GoalFinish, Config: map[string]any{"command": "/bin/true"}}
	j := jobOf("service", &api.Task{Name: "server", Driver: "raw_exec", Config: map[string]any{"command": "/bin/sleep", "args": []any{"600"}}}, task)
	s.messages <- launched(j, "one", 1, map[string]*api.Launch{"t": {}})
	s.until(b, api.AllocClientRunning, 1)
	index := uint64(1)
	for b.Loop() {
		index++
		token := fmt.Sprint(index)
		s.messages <- launched(j, "one", index, map[string]*api.Launch{"t": {Token: token}})
		s.task(b, "one", "t", "the end of the run", func(x *api.TaskState) bool { return x.Launch == token && x.State == api.TaskStateDead })
	}
	b.StopTimer()
	if err := n.StopAll(b.Context()); err != nil {
		b.Fatal(err)
	}
}
