// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
)

// checkedJob describes a version of the unit web whose shift compares errors each five seconds.
func checkedJob(reeve, version string, minRequests int) *api.Job {
	job := stackJob(reeve, version, time.Minute)
	job.Stack.Shift.Checks = []*api.ShiftCheck{{Name: "errors", Metric: api.MetricErrors, Max: "5%", Than: "from+1%"}}
	job.Stack.Shift.Interval, job.Stack.Shift.MinRequests = 5*time.Second, minRequests
	return job
}

// untilShift waits for a condition of the newest shift, and returns it.
func (m *machine) untilShift(what string, holds func(*api.Shift) bool) (shift *api.Shift) {
	m.t.Helper()
	m.eventually(what, func(ctx context.Context) error {
		list, _, err := m.Client.Shifts().List(ctx, nil)
		if err != nil || len(list) == 0 {
			return fmt.Errorf("%d shifts, %v", len(list), err)
		}
		if shift = list[0]; !holds(shift) {
			return fmt.Errorf("%s with share %v: %s; traffic %+v", shift.Status, shift.Share, shift.Reason, shift.Traffic)
		}
		return nil
	})
	return shift
}

// TestChecksDecideAboutShifts sends requests all the time: a version with errors is reversed, and one with
// too few requests waits for an operator.
func TestChecksDecideAboutShifts(t *testing.T) {
	m := newMachine(t)
	first := m.deployStack(stackJob(m.Reeve, "1.0.0", 10*time.Second))
	m.answered("1.0.0")
	s, err := m.Client.Status().Router(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := hammerWith(t, 4, func(client *http.Client) error {
		_ = askOnce(client, s.HTTP) // errors are what the checks count
		return nil
	})
	defer h.stop()

	broken := checkedJob(m.Reeve, "1.1.0", 5)
	broken.Groups[0].Tasks[0].Env["ERRORS"] = "50"
	second := m.deployStack(broken)
	m.untilShift("the figures of both stacks are shown", func(s *api.Shift) bool {
		return s.Traffic != nil && s.Traffic.From.Requests > 0 && s.Traffic.To.Requests > 0 || !s.IsActive()
	})
	shift := m.untilShift("the shift to the broken version is reversed", func(s *api.Shift) bool { return s.Status == api.ShiftReversed })
	if !strings.HasPrefix(shift.Reason, "reversed: 5xx ") || !strings.Contains(shift.Reason, " % against 0.0 %") {
		t.Errorf("reason %q, want the figures", shift.Reason)
	}
	if text := m.reeve("stack", "shift", "web"); !strings.Contains(text, "reversed: 5xx ") {
		t.Errorf("reeve stack shift web after the end:\n%s", text)
	}
	m.inState(second, api.StackReady)
	m.answered("1.0.0")

	m.deployStack(checkedJob(m.Reeve, "1.2.0", 1_000_000))
	at := m.untilShift("the share stands still", func(s *api.Shift) bool { return s.Inconclusive > 0 }).Share
	shift = m.untilShift("the shift waits for an operator", func(s *api.Shift) bool { return s.Status == api.ShiftWaiting })
	if shift.Share != at || !strings.Contains(shift.Reason, "inconclusive for 10 intervals") {
		t.Errorf("share %v (%s), want %v and why it waits", shift.Share, shift.Reason, at)
	}
	m.reeve("stack", "shift", "web", "resume")
	m.untilShift("the resumed shift goes on", func(s *api.Shift) bool { return s.Share > at })
	m.reeve("stack", "shift", "-now", "web", "reverse")
	m.inState(first, api.StackReady)
}

// TestUndeclaredCallersAreObserved asks for a stack by its name.
func TestUndeclaredCallersAreObserved(t *testing.T) {
	m := newMachine(t)
	job := stackJob(m.Reeve, "1.0.0", 10*time.Second)
	job.Stack.Expose, job.Stack.Idle = nil, ptr(time.Duration(0))
	stack := m.deployStack(job)
	s, err := m.Client.Status().Router(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m.eventually("the name leads to the stack", func(context.Context) error {
		return askFor(http.DefaultClient, s.HTTP, "1.web.default.stack.reeve")
	})
	m.eventually("a sweep keeps the stack because of its caller", func(ctx context.Context) error {
		if _, err := m.Client.Stacks().Sweep(ctx, false); err != nil {
			return err
		}
		status, _, err := m.Client.Stacks().Get(ctx, stack, nil)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(status.Why, "127.0.0.1 (node ") || !strings.HasSuffix(status.Why, " sends requests to it without declaring a dependency") {
			return fmt.Errorf("why: %q", status.Why)
		}
		return nil
	})
	if text := m.reeve("stack", "graph"); !strings.Contains(text, "observed") {
		t.Errorf("the graph does not show the caller:\n%s", text)
	}
	if version := cgroup.Detect().Version(); version != cgroup.V2 && version != cgroup.Hybrid {
		return // tasks are then known by their node
	}
	m.runText(fmt.Sprintf(`job "poller" {
  group "g" {
    task "ask" {
      driver = "raw_exec"
      config {
        command = "/bin/bash"
        args    = ["-c", "while exec 3<>/dev/tcp/127.0.0.1/%s; do printf 'GET / HTTP/1.0\\r\\nHost: 1.web.default.stack.reeve\\r\\n\\r\\n' >&3; read -r line <&3; sleep 0.2; done"]
      }
    }
  }
}`, s.HTTP[strings.LastIndexByte(s.HTTP, ':')+1:]))
	m.eventually("the graph names the job that calls", func(ctx context.Context) error {
		if _, err := m.Client.Stacks().Sweep(ctx, false); err != nil {
			return err
		}
		if text := m.reeve("stack", "graph"); !strings.Contains(text, "job poller") {
			return fmt.Errorf("graph:\n%s", text)
		}
		return nil
	})
}
