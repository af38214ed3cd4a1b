// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/exec"
	"github.com/reeve-run/reeve/internal/node/driver/rawexec"
	"github.com/reeve-run/reeve/internal/node/drivertest"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// shell makes a task that runs a script as a real process.
func shell(name, script string) *api.Task {
	return &api.Task{Name: name, Driver: "raw_exec", Config: map[string]any{"command": "/bin/sh", "args": []any{"-c", script}}}
}

// real is a node whose tasks are real processes, with its API.
type real struct {
	*running
	servers    *fakeServers
	client     *client.Client
	supervisor *supervise.Client
	isolates   bool // this machine can isolate tasks
	dir        string
	address    string // of the API
}

func runReal(t *testing.T) *real {
	t.Helper()
	s := newServers()
	dir := t.TempDir()
	c := supervisetest.Connect(t)
	isolating := exec.New(c, exec.Config{})
	n := run(t, dir, s, map[string]driver.Driver{"raw_exec": rawexec.New(c), "exec": isolating})
	web := httptest.NewServer(n.Handler())
	api, err := client.New(client.Config{Address: web.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := n.StopAll(ctx); err != nil {
			t.Error(err)
		}
		web.CloseClientConnections()
		n.stop()
		web.Close()
		api.Close()
	})
	return &real{running: n, servers: s, client: api, supervisor: c, isolates: isolating.Fingerprint(t.Context()).Healthy, dir: dir, address: web.URL}
}

// place gives the node an allocation, and returns when it knows that.
func (r *real) place(t *testing.T, j *api.Job, id string) {
	t.Helper()
	r.servers.messages <- placed(j, false, id)
	eventually(t, "the node knows its allocation", func() bool {
		_, err := r.runner(id)
		return err == nil
	})
}

// logs reads a task's whole output so far.
func (r *real) logs(t *testing.T, id, task string) string {
	t.Helper()
	var out bytes.Buffer
	for frame, err := range r.client.FS().Logs(t.Context(), id, client.LogOptions{Task: task, Type: "stdout"}) {
		if err != nil {
			t.Fatal(err)
		}
		out.Write(frame.Data)
	}
	return out.String()
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	wait.Until(t, what, ok)
}

func TestRealTaskSeesItsSurroundings(t *testing.T) {
	r := runReal(t)
	j := jobOf("batch", &api.Task{
		Name: "t", Driver: "raw_exec", Meta: map[string]string{"team": "blue"},
		Env:    map[string]string{"GREETING": "hello ${NOMAD_META_TEAM} on ${node.unique.name}"},
		Config: map[string]any{"command": "/bin/sh", "args": []any{"-c", `echo "$GREETING, ${NOMAD_TASK_NAME} $REEVE_ALLOC_INDEX"; pwd; stat -c %a $NOMAD_SECRETS_DIR; echo s > $NOMAD_SECRETS_DIR/s; echo shared > $NOMAD_ALLOC_DIR/data/f; echo own > $NOMAD_TASK_DIR/f`}},
	})
	r.place(t, j, "one")
	r.servers.until(t, api.AllocClientComplete, 1)
	want(t, "output", "hello blue on n1, t 0\n"+r.dir+"/alloc/one/t\n700\n", r.logs(t, "one", "t"))
	eventually(t, "the ended allocation's secrets are gone", func() bool { // that holds up no report
		_, err := os.Stat(r.dirs.Task("one", "t").Secrets)
		return errors.Is(err, os.ErrNotExist)
	})
}

func TestRealFilesAreReadAndDoNotEscape(t *testing.T) {
	r := runReal(t)
	script := `echo 0123456789 > f; ln -s /etc/passwd passwd; ln -s ../../../../../.. up; ln -s $NOMAD_SECRETS_DIR mine; mkfifo fifo; echo x > $NOMAD_SECRETS_DIR/s; echo done; exec sleep 60`
	r.place(t, jobOf("service", shell("t", script)), "one")
	eventually(t, "the task has made its files", func() bool { return strings.Contains(r.logs(t, "one", "t"), "done") })
	fs := r.client.FS()
	read := func(path string) (string, error) {
		body, err := fs.Cat(t.Context(), "one", path)
		if err != nil {
			return "", err
		}
		defer body.Close()
		data, err := io.ReadAll(body)
		return string(data), err
	}
	text, err := read("/t/f")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "cat", "0123456789\n", text)
	part, err := fs.ReadAt(t.Context(), "one", "t/f", 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := io.ReadAll(part)
	part.Close()
	want(t, "readat", "3456", string(data))
	list, err := fs.List(t.Context(), "one", "/")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "ls", 2, len(list))
	info, err := fs.Stat(t.Context(), "one", "t/f")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "stat", []any{"f", int64(11), false, "text/plain; charset=utf-8"}, []any{info.Name, info.Size, info.IsDir, info.ContentType})
	for path, code := range map[string]api.ErrorCode{
		"t/passwd": api.CodeForbidden, "t/up/etc/passwd": api.CodeForbidden, "t/mine/s": api.CodeForbidden, "t/secrets/s": api.CodeForbidden,
		"t/none": api.CodeNotFound, "t/fifo": api.CodeInvalid, "t": api.CodeInvalid, "../../node.db": api.CodeNotFound,
	} {
		if text, err := read(path); api.CodeOf(err) != code {
			t.Errorf("cat %s: %q, %v; want an error with code %s", path, text, err, code)
		}
	}
}

func TestRealLogsAreFollowedToTheEnd(t *testing.T) {
	r := runReal(t)
	r.place(t, jobOf("batch", shell("t", `echo one; while [ ! -e $NOMAD_ALLOC_DIR/go ]; do sleep 0.02; done; echo two`)), "one")
	eventually(t, "the task runs", func() bool { return strings.Contains(r.logs(t, "one", "t"), "one") })
	var out bytes.Buffer
	for frame, err := range r.client.FS().Logs(t.Context(), "one", client.LogOptions{Task: "t", Type: "stdout", Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out.Write(frame.Data)
		if out.String() == "one\n" {
			if err := os.WriteFile(r.dirs.Root("one")+"/alloc/go", nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	want(t, "output", "one\ntwo\n", out.String())
}

func TestRealExecSignalRestartAndStats(t *testing.T) {
	r := runReal(t)
	r.place(t, jobOf("service", shell("t", `trap 'echo hup' HUP; echo run; while :; do sleep 0.02; done`)), "one")
	eventually(t, "the task runs", func() bool { return strings.Contains(r.logs(t, "one", "t"), "run") })
	ctx := t.Context()
	allocs := r.client.Allocations()
	eventually(t, "the agent knows that the task runs", func() bool {
		s, err := allocs.Stats(ctx, "one")
		return err == nil && s.Tasks["t"] != nil
	})

	var out, errs bytes.Buffer
	code, err := allocs.Exec(ctx, "one", client.Exec{Task: "t", Command: []string{"/bin/sh", "-c", `cat; echo $NOMAD_TASK_NAME >&2; exit 5`},
		Stdin: strings.NewReader("from stdin"), Stdout: &out, Stderr: &errs})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "exec", []any{5, "from stdin", "t\n"}, []any{code, out.String(), errs.String()})
	if _, err := allocs.Exec(ctx, "one", client.Exec{Task: "no", Command: []string{"true"}, Stdout: &out, Stderr: &errs}); err == nil {
		t.Error("exec in a task that does not exist did not fail")
	}

	if err := allocs.Signal(ctx, "one", api.SignalAllocationRequest{Signal: "SIGHUP"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the signal has arrived", func() bool { return strings.Contains(r.logs(t, "one", "t"), "hup") })
	if err := allocs.Signal(ctx, "one", api.SignalAllocationRequest{Signal: "SIGNOTHING"}); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("an unknown signal: %v; want code invalid", err)
	}

	stats, err := allocs.Stats(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	if stats.Tasks["t"] == nil || stats.Tasks["t"].ResourceUsage.MemoryStats.RSS == 0 {
		t.Errorf("stats = %+v; want the task's memory", stats)
	}

	if err := allocs.Restart(ctx, "one", api.RestartAllocationRequest{TaskName: "t"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the task runs again", func() bool { return strings.Count(r.logs(t, "one", "t"), "run") == 2 })
	if err := allocs.Restart(ctx, "none", api.RestartAllocationRequest{}); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("restart of an unknown allocation: %v; want code not_found", err)
	}
}

func TestRealFailingCheckRestartsTheTask(t *testing.T) {
	r := runReal(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	sick := make(chan bool, 1)
	sick <- false
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		is := <-sick
		sick <- is
		if is {
			http.Error(w, "I am ill", http.StatusInternalServerError)
		}
	})}
	served := make(chan struct{})
	go func() { defer close(served); web.Serve(l) }()
	defer func() { web.Close(); <-served }()
	task := shell("t", "exec sleep 60")
	grace, delay := time.Duration(0), 10*time.Millisecond
	task.Restart = &api.Restart{Delay: &delay}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	task.Services = []*api.Service{{Name: "web", PortLabel: port, Checks: []*api.Check{{
		Name: "up", Type: api.CheckHTTP, Path: "/", Interval: 50 * time.Millisecond, Timeout: time.Second,
		CheckRestart: &api.CheckRestart{Limit: 2, Grace: &grace},
	}}}}
	r.place(t, jobOf("service", task), "one")
	eventually(t, "the check passes", func() bool {
		checks, err := r.client.Allocations().Checks(t.Context(), "one")
		for _, c := range checks {
			return err == nil && c.Status == api.CheckStatusSuccess && c.StatusCode == 200
		}
		return false
	})
	<-sick
	sick <- true
	eventually(t, "the task is restarted", func() bool {
		a := r.servers.last("one")
		if a == nil {
			return false
		}
		for _, e := range a.TaskStates["t"].Events {
			if e.Type == api.EventCheckUnhealthy && strings.Contains(e.DisplayMessage, "500 Internal Server Error in ") && strings.HasSuffix(e.DisplayMessage, ": I am ill") {
				return a.TaskStates["t"].Restarts > 0
			}
		}
		return false
	})
}

func TestRealProcessesAreFoundAgain(t *testing.T) {
	supervisor := supervisetest.Connect(t)
	drivers := func() map[string]driver.Driver { return map[string]driver.Driver{"raw_exec": rawexec.New(supervisor)} }
	s, dir := newServers(), t.TempDir()
	n := run(t, dir, s, drivers())
	j := jobOf("batch", shell("t", "exec sleep 60"))
	quick := jobOf("batch", shell("t", `while [ ! -e $NOMAD_ALLOC_DIR/go ]; do sleep 0.02; done; exit 7`))
	quick.ID, quick.Groups[0].Tasks[0].Restart.Attempts = "quick", new(int)
	s.messages <- placed(j, false, "one")
	s.messages <- placed(quick, false, "two")
	s.until(t, api.AllocClientRunning, 2)
	pid := pidOf(t, n, "one")
	n.stop()

	if err := os.WriteFile(n.dirs.Root("two")+"/alloc/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	again := run(t, dir, s, drivers())
	s.until(t, api.AllocClientFailed, 1)
	want(t, "exit code", 7, lastExit(s.last("two").TaskStates["t"]))
	eventually(t, "the process is found again", func() bool {
		events := s.last("one").TaskStates["t"].Events
		return events[len(events)-1].Type == api.EventRestored
	})
	want(t, "process", pid, pidOf(t, again, "one"))
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the kill is reported", func() bool { return lastExit(s.last("one").TaskStates["t"]) == 137 })
	if err := again.StopAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	again.stop()
}

// pidOf is the process of an allocation's one task.
func pidOf(t *testing.T, n *running, id string) int {
	t.Helper()
	run, err := n.runner(id)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	eventually(t, "the task runs", func() bool {
		code, err := run.Exec(t.Context(), "t", driver.Exec{Argv: []string{"/bin/true"}, Stdout: io.Discard, Stderr: io.Discard})
		if err != nil || code != 0 {
			return false
		}
		for _, e := range run.Report().TaskStates["t"].Events {
			if i := strings.LastIndex(e.DisplayMessage, "as process "); i >= 0 {
				fmt.Sscan(e.DisplayMessage[i+len("as process "):], &pid)
			}
		}
		return pid > 0
	})
	return pid
}

func lastExit(s *api.TaskState) int {
	code := -1
	for _, e := range s.Events {
		if e.Type == api.EventTerminated {
			code = e.ExitCode
		}
	}
	return code
}

// A follower that the agent leaves must not take the output for whole.
func TestAFollowerHearsThatTheAgentHasStopped(t *testing.T) {
	s := newServers()
	n := run(t, t.TempDir(), s, map[string]driver.Driver{"fake": drivertest.New()})
	web := httptest.NewServer(n.Handler())
	defer web.Close()
	c, err := client.New(client.Config{Address: web.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.messages <- placed(jobOf("service", &api.Task{Name: "t", Driver: "fake"}), false, "one")
	eventually(t, "the task has a place for its output", func() bool {
		return os.WriteFile(n.dirs.LogDir("one")+"/t.stdout.0", []byte("text"), 0o644) == nil
	})
	var out bytes.Buffer
	for frame, err := range c.FS().Logs(t.Context(), "one", client.LogOptions{Task: "t", Type: "stdout", Follow: true}) {
		if err != nil {
			want(t, "output", "text", out.String())
			return
		}
		if out.Write(frame.Data); out.String() == "text" {
			n.stop()
		}
	}
	t.Error("the output ended as if the task had")
}
