// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// command starts a command of the binary. The returned function waits for its end, and returns its
// output.
func (m *machine) command(args ...string) func() string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	cmd := exec.CommandContext(ctx, reeve, args...)
	cmd.Env = append(os.Environ(), "REEVE_ADDR=http://"+m.Addr, "NO_COLOR=1")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		cancel()
		m.t.Fatal(err)
	}
	return func() string {
		m.t.Helper()
		defer cancel()
		if err := cmd.Wait(); err != nil {
			m.t.Fatalf("reeve %s: %v\n%s", strings.Join(args, " "), err, out.String())
		}
		return out.String()
	}
}

// planOf waits until a plan of a stack is as wanted.
func (m *machine) planOf(stack, plan, what string, ok func(*api.Plan) bool) *api.Plan {
	m.t.Helper()
	var p *api.Plan
	m.eventually(fmt.Sprintf("plan %s of %s %s", plan, stack, what), func(ctx context.Context) (err error) {
		if p, _, err = m.Client.Plans().Get(ctx, stack, plan, nil); err == nil && !ok(p) {
			err = fmt.Errorf("it is %s %d/%d %s", p.Status, p.Completed, p.Total, p.Message)
		}
		return err
	})
	return p
}

// TestShiftIsWatchedAndSteeredByItsPlan follows a stack from its deployment to the end of its shift, which
// an operator interrupts, continues and completes, over a kill -9 of the agent.
func TestShiftIsWatchedAndSteeredByItsPlan(t *testing.T) {
	m := newMachine(t)
	m.deployStack(stackJob(m.Reeve, "1.0.0", time.Minute))
	m.answered("1.0.0")
	res, err := m.Client.Stacks().Deploy(t.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{stackJob(m.Reeve, "1.1.0", 100*time.Second)}})
	if err != nil {
		t.Fatal(err)
	}
	stack := res.Stacks[0].Name
	watch := m.command("plan", "show", "-watch", "web")
	m.planOf(stack, api.PlanShift, "has moved traffic", func(p *api.Plan) bool { return p.Completed > 0 })
	m.reeve("plan", "interrupt", "-reason", "lunch", "web", "shift")
	held := m.planOf(stack, api.PlanShift, "waits", func(p *api.Plan) bool { return p.Status == api.PlanWaiting && p.Interrupted })
	m.Kill()
	m.start()
	m.waitReady()
	after := m.planOf(stack, api.PlanShift, "waits after the crash", func(p *api.Plan) bool { return p.Status == api.PlanWaiting })
	if after.Completed != held.Completed || after.ID != held.ID || len(after.Decisions) != 1 || after.Decisions[0].Reason != "lunch" {
		t.Errorf("after the crash the plan has %d of %d steps and the decisions %+v; before, %d", after.Completed, after.Total, after.Decisions, held.Completed)
	}
	m.answered("1.0.0", "1.1.0")
	m.reeve("plan", "continue", "web", "shift")
	m.reeve("plan", "force-complete", "-y", "web", "shift", "traffic", "70%")
	m.planOf(stack, api.PlanShift, "continues from 70 %", func(p *api.Plan) bool { return p.Completed >= 7 && p.Status == api.PlanInProgress })
	m.reeve("plan", "force-complete", "-y", "web", "shift")
	out := watch()
	for _, want := range []string{"paused by", "lunch", "continued plan shift", "force-completed 70%", "plan shift (COMPLETE)", "Stack " + stack + " is ready"} {
		if !strings.Contains(out, want) {
			t.Errorf("the watch does not show %q:\n%s", want, out)
		}
	}
	m.answered("1.1.0")
}

// TestRemovalOfAStackWaitsForItsNode stops the only node of a stack whose grace ends.
func TestRemovalOfAStackWaitsForItsNode(t *testing.T) {
	f := newFleet(t, 1)
	m, node := f.server, f.nodes[0]
	job := stackJob(m.Reeve, "1.0.0", 0)
	job.Stack.Grace = ptr(time.Second)
	stack := m.deployStack(job)
	m.reeve("stack", "stop", "-reason", "test", stack)
	if out := m.reeve("plan", "show", "web", "uninstall"); !strings.Contains(out, "grace") || !strings.Contains(out, "garbage: test") {
		t.Errorf("plan of garbage:\n%s", out)
	}
	node.signal(syscall.SIGSTOP)
	f.status(node, api.NodeStatusDown)
	m.reeve("stack", "sweep")
	m.planOf(stack, api.PlanUninstall, "waits for the node", func(p *api.Plan) bool {
		return p.Completed == 1 && strings.Contains(p.Phases[1].Steps[0].Message, "its node does not answer")
	})
	m.eventually("the stack says why it is not removed", func(ctx context.Context) error {
		s, _, err := m.Client.Stacks().Get(ctx, stack, nil)
		if err == nil && (s.Status != api.StackGarbage || !strings.Contains(s.StatusText(), "node-0")) {
			err = fmt.Errorf("it is %s: %s", s.Status, s.StatusText())
		}
		return err
	})
	m.reeve("stack", "sweep")
	m.reeve("stack", "sweep")

	node.signal(syscall.SIGCONT)
	m.inState(stack, api.StackTerminated)
	m.planOf(stack, api.PlanUninstall, "is complete", func(p *api.Plan) bool { return p.Status == api.PlanComplete })
	records, _, err := m.Client.Stacks().Verdicts(t.Context(), stack, nil)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range records {
		count[r.Action]++
	}
	if count["removed"] != 1 || count["waits"] != 1 || count[api.StackTerminated] != 1 {
		t.Errorf("audit records by action: %v, want one of removed, waits and terminated", count)
	}
}
