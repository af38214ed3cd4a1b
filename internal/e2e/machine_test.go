// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e_test drives the real binary: real processes, real sockets, real
// kill -9. Each test has its own machine.
package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// reeve is the binary under test, built once.
var reeve string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if reeve = os.Getenv(binaryVariable); reeve != "" {
			return m.Run()
		}
		dir, err := os.MkdirTemp("", "reeve-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		reeve = filepath.Join(dir, "reeve")
		build := exec.Command("go", "build", "-trimpath", "-o", reeve, "github.com/reeve-run/reeve/cmd/reeve")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in the Makefile
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

// machine is a testbed.Machine whose troubles fail the test.
type machine struct {
	*testbed.Machine
	t *testing.T
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
	tm, err := testbed.New(reeve)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{tm, t}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("agent output:\n%s", tail(m.Output(), 80))
		}
		m.Destroy()
	})
	return m
}

func (m *machine) start() {
	m.t.Helper()
	if err := m.Start(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) waitReady() {
	m.t.Helper()
	m.eventually("the node is ready", m.Ready)
}

// eventually tries until it succeeds, or fails the test.
func (m *machine) eventually(what string, try func(context.Context) error) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	if err := m.Poll(ctx, 10*time.Millisecond, try); err != nil {
		m.t.Fatalf("%s: not within %s; last: %v", what, patience, err)
	}
}

// register registers a job and returns its evaluation's id.
func (m *machine) register(job *api.Job) string {
	m.t.Helper()
	resp, err := m.Client.Jobs().Register(m.t.Context(), &api.RegisterJobRequest{Job: job})
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
		list, _, err := m.Client.Jobs().Allocations(ctx, job, true, nil)
		if err != nil {
			return err
		}
		if !ok(list) {
			var b strings.Builder
			for _, a := range list {
				fmt.Fprintf(&b, "\n  %s v%d want %s is %s %s", a.Name, a.JobVersion, a.DesiredStatus, a.ClientStatus, a.ClientDescription)
				for name, s := range a.TaskStates {
					fmt.Fprintf(&b, "\n    %s %s%s", name, s.State, events(s))
				}
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

func exitCode(s *api.TaskState) int {
	if s == nil {
		return -1
	}
	for _, e := range s.Events {
		if e.Type == api.EventTerminated {
			return e.ExitCode
		}
	}
	return -1
}

func events(s *api.TaskState) string {
	if s == nil {
		return "none"
	}
	var b strings.Builder
	for _, e := range s.Events {
		fmt.Fprintf(&b, "\n      %s: %s", e.Type, e.DisplayMessage)
	}
	return b.String()
}

func ptr[T any](v T) *T { return &v }

func tail(s string, lines int) string {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// readyNodes returns the reason why a cluster does not have a number of ready nodes.
func readyNodes(seen *machine, want int) func(context.Context) error {
	return func(ctx context.Context) error {
		list, _, err := seen.Client.Nodes().List(ctx, nil)
		count := 0
		for _, n := range list {
			if n.Status == api.NodeStatusReady {
				count++
			}
		}
		if err == nil && count != want {
			err = fmt.Errorf("%d of %d nodes are ready", count, want)
		}
		return err
	}
}
