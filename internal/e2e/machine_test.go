// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e_test drives the real binary: real processes, real sockets, real
// kill -9. Each test has its own machine: an agent with an own data directory
// on an own port of the loopback interface.
package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// reeve is the binary under test, built once.
var reeve string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "reeve-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		reeve = filepath.Join(dir, "reeve")
		build := exec.Command("go", "build", "-o", reeve, "github.com/reeve-run/reeve/cmd/reeve")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// patience is how long anything may take before a test gives up on it: far
// longer than it should, because the machine may be busy.
const patience = 60 * time.Second

// machine is one agent, server and node together.
type machine struct {
	t      *testing.T
	dir    string
	addr   string
	cmd    *exec.Cmd
	exited chan struct{}
	output *syncBuffer
	client *client.Client
}

// newMachine starts an agent and waits until its node takes work.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := unstarted(t)
	m.start()
	m.waitReady()
	return m
}

func unstarted(t *testing.T) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "reeve-m-")
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: dir, addr: freeAddress(t)}
	m.client, err = client.New(client.Config{Address: "http://" + m.addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.destroy)
	return m
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (m *machine) start(extra ...string) {
	m.t.Helper()
	args := append([]string{"agent", "-dev", "-data-dir", m.dir, "-http-addr", m.addr}, extra...)
	m.cmd = exec.Command(reeve, args...)
	m.output = &syncBuffer{}
	m.cmd.Stdout, m.cmd.Stderr = m.output, m.output
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	exited := make(chan struct{})
	m.exited = exited
	go func(cmd *exec.Cmd) {
		cmd.Wait()
		close(exited)
	}(m.cmd)
}

func (m *machine) waitReady() {
	m.t.Helper()
	m.eventually("the node is ready", func(ctx context.Context) error {
		select {
		case <-m.exited:
			m.t.Fatalf("the agent ended:\n%s", m.output)
		default:
		}
		nodes, _, err := m.client.Nodes().List(ctx, nil)
		if err != nil {
			return err
		}
		if len(nodes) != 1 || nodes[0].Status != api.NodeStatusReady {
			return fmt.Errorf("nodes: %+v", nodes)
		}
		return nil
	})
}

// kill ends the agent as a crash would: nothing of it runs another
// instruction. The supervisor and the tasks go on.
func (m *machine) kill() {
	m.t.Helper()
	m.cmd.Process.Kill()
	<-m.exited
}

// destroy ends everything that the machine started.
func (m *machine) destroy() {
	if m.cmd != nil {
		m.cmd.Process.Kill()
		<-m.exited
	}
	if m.t.Failed() && m.output != nil {
		m.t.Logf("agent output:\n%s", tail(m.output.String(), 80))
	}
	for _, pid := range m.processes() {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	unmount(m.dir)
	os.RemoveAll(m.dir)
}

// processes lists the processes that belong to the machine: its supervisor and
// its tasks, known by the data directory in their command line or environment.
func (m *machine) processes() []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		for _, file := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(filepath.Join("/proc", e.Name(), file))
			if err == nil && bytes.Contains(text, []byte(m.dir)) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// supervisor is the process id of the machine's one supervisor.
func (m *machine) supervisor() int {
	m.t.Helper()
	for _, pid := range m.processes() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(text, []byte("supervise")) {
			return pid
		}
	}
	m.t.Fatal("no supervisor runs")
	return 0
}

func unmount(dir string) {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	lines := strings.Split(string(mounts), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if f := strings.Fields(lines[i]); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			syscall.Unmount(f[1], syscall.MNT_DETACH)
		}
	}
}

// eventually tries until it succeeds, or fails the test.
func (m *machine) eventually(what string, try func(context.Context) error) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			m.t.Fatalf("%s: not within %s; last: %v", what, patience, err)
		}
	}
}

// register registers a job and returns its evaluation's id.
func (m *machine) register(job *api.Job) string {
	m.t.Helper()
	resp, err := m.client.Jobs().Register(m.t.Context(), &api.RegisterJobRequest{Job: job})
	if err != nil {
		m.t.Fatalf("register %s: %v", job.ID, err)
	}
	return resp.EvalID
}

// allocations lists a job's allocations once a condition holds for them.
func (m *machine) allocations(job, what string, ok func([]*api.AllocationListStub) bool) []*api.AllocationListStub {
	m.t.Helper()
	var found []*api.AllocationListStub
	m.eventually(job+": "+what, func(ctx context.Context) error {
		list, _, err := m.client.Jobs().Allocations(ctx, job, true, nil)
		if err != nil {
			return err
		}
		if !ok(list) {
			var b strings.Builder
			for _, a := range list {
				fmt.Fprintf(&b, "\n  %s v%d want %s is %s %s", a.Name, a.JobVersion, a.DesiredStatus, a.ClientStatus, a.ClientDescription)
			}
			return fmt.Errorf("allocations:%s", &b)
		}
		found = list
		return nil
	})
	return found
}

func running(n int) func([]*api.AllocationListStub) bool {
	return func(list []*api.AllocationListStub) bool {
		count := 0
		for _, a := range list {
			if a.ClientStatus == api.AllocClientRunning && a.DesiredStatus == api.AllocDesiredRun {
				count++
			}
		}
		return count == n
	}
}

// shellJob is a service of one raw_exec task that runs a shell script.
func shellJob(id string, count int, script string) *api.Job {
	zero, parallel := time.Duration(0), count
	if parallel == 0 {
		parallel = 1
	}
	return &api.Job{
		ID: id,
		Groups: []*api.Group{{
			Name: "main", Count: &count,
			Update: &api.Update{MinHealthyTime: &zero, MaxParallel: &parallel},
			Tasks: []*api.Task{{
				Name: "sh", Driver: "raw_exec",
				Config:    map[string]any{"command": "/bin/sh", "args": []string{"-c", script}},
				Resources: &api.Resources{CPU: ptr(10), MemoryMB: ptr(10)},
				Logs:      &api.Logs{MaxFiles: ptr(2), MaxFileSizeMB: ptr(1)},
			}},
			EphemeralDisk: &api.EphemeralDisk{SizeMB: ptr(10)},
		}},
	}
}

func ptr[T any](v T) *T { return &v }

// syncBuffer is a buffer that a process writes while a test reads.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func tail(s string, lines int) string {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
