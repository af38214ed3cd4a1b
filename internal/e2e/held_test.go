// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestAHeldBatchJobSurvives holds a batch job before its first canary and between
// two of them: it is not collected, over kill -9 either, nobody is told that it is
// over, and it goes on when it is continued.
func TestAHeldBatchJobSurvives(t *testing.T) {
	l := &listener{}
	receiver := httptest.NewServer(l)
	defer receiver.Close()
	m := newMachine(t)
	job := oneOff("import", receiver.URL, "echo done > $NOMAD_TASK_DIR/result")
	job.Groups[0].Count = ptr(2)
	job.Plans = []*api.PlanSpec{{Name: api.PlanDeploy, Strategy: api.StrategySerial, Phases: []*api.PhaseSpec{
		{Name: "main", Group: "main", Strategy: api.StrategySerialCanary},
	}}}
	m.register(job)
	m.isHeld("import", 0)
	m.Kill()
	m.start()
	m.waitReady()
	m.isHeld("import", 0)
	m.reeve("plan", "continue", "import", "deploy", "main")
	m.isHeld("import", 1)
	if out := m.reeve("job", "status", "import"); !strings.Contains(out, "running (held)") || !strings.Contains(out, "canary: waits for continue") {
		t.Errorf("job status does not say who holds the job:\n%s", out)
	}
	if got := l.all(); len(got) != 0 {
		t.Fatalf("%d callbacks for a job that is not over", len(got))
	}
	m.reeve("plan", "continue", "import", "deploy", "main")
	is := m.callback("import", api.CallbackDelivered)
	if c := is.Completion; c.State != api.CompletionComplete || len(c.Tasks) != 2 {
		t.Errorf("told was %+v", c)
	}
}

// isHeld waits until the job is held with so many instances done, collects garbage,
// and wants it to be there as it was.
func (m *machine) isHeld(job string, done int) {
	m.t.Helper()
	check := func(ctx context.Context) error {
		is, _, err := m.Client.Jobs().Get(ctx, job, nil)
		if err != nil {
			return err
		}
		summary, _, err := m.Client.Jobs().Summary(ctx, job, nil)
		if err != nil {
			return err
		}
		if is.Status != api.JobStatusRunning || !is.Held || is.HeldReason == "" || summary.Summary["main"].Complete != done {
			return fmt.Errorf("it is %s, held %v (%s), with %+v", is.Status, is.Held, is.HeldReason, summary.Summary)
		}
		return nil
	}
	m.eventually(fmt.Sprintf("job %s is held with %d done", job, done), check)
	m.reeve("system", "gc")
	if err := check(m.t.Context()); err != nil {
		m.t.Errorf("after garbage was collected: %v", err)
	}
}
