// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// restarted is a job whose every start leaves a line in a file.
type restarted struct {
	*machine
	job   *api.Job
	count int
}

func newRestarted(t *testing.T, count int) *restarted {
	t.Helper()
	m := newMachine(t)
	r := &restarted{machine: m, count: count}
	r.job = testbed.ShellJob("web", count, "echo start >> "+m.Dir+"/starts.$NOMAD_ALLOC_INDEX; exec sleep 100000")
	m.register(r.job)
	m.allocations("web", "runs", running(count))
	m.eventually("it is deployed", func(ctx context.Context) error {
		d, _, err := m.Client.Jobs().LatestDeployment(ctx, "web", nil)
		if err != nil {
			return err
		}
		if d == nil || d.Status != api.DeploymentSuccessful {
			return fmt.Errorf("deployment: %+v", d)
		}
		return nil
	})
	r.started(slices.Repeat([]int{1}, count))
	return r
}

// started waits until each instance was started so often: a process counts as
// running before it has written anything.
func (r *restarted) started(want []int) {
	r.t.Helper()
	r.eventually(fmt.Sprintf("the instances were started %v times", want), func(context.Context) error {
		got := r.starts()
		for i, n := range got {
			if n > want[i] {
				r.t.Fatalf("the instances were started %v times, want %v", got, want)
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("started %v times", got)
		}
		return nil
	})
}

// starts counts how often each instance was started.
func (r *restarted) starts() []int {
	n := make([]int, r.count)
	for i := range n {
		text, err := os.ReadFile(filepath.Join(r.Dir, fmt.Sprintf("starts.%d", i)))
		if err != nil && !os.IsNotExist(err) {
			r.t.Fatal(err)
		}
		n[i] = strings.Count(string(text), "start\n")
	}
	return n
}

// begin begins a restart.
func (r *restarted) begin(req *api.JobRestartRequest) *api.JobRestart {
	r.t.Helper()
	restart, err := r.Client.Restarts().Start(r.t.Context(), "web", req)
	if err != nil {
		r.t.Fatal(err)
	}
	return restart
}

// until waits for a restart to become something.
func (r *restarted) until(id, what string, ok func(*api.JobRestart) bool) *api.JobRestart {
	r.t.Helper()
	var got *api.JobRestart
	r.eventually("the restart "+what, func(ctx context.Context) (err error) {
		if got, _, err = r.Client.Restarts().Get(ctx, id, nil); err != nil {
			return err
		}
		if !ok(got) {
			return fmt.Errorf("it is %+v; starts: %v", got, r.starts())
		}
		return nil
	})
	return got
}

func isRestart(status string) func(*api.JobRestart) bool {
	return func(r *api.JobRestart) bool { return r.Status == status }
}

// TestRollingRestartSurvivesKill9 pauses a rolling restart, kills the server,
// and has the next one finish it: every instance was started exactly twice, and
// who decided what is known.
func TestRollingRestartSurvivesKill9(t *testing.T) {
	r := newRestarted(t, 4)
	ctx := t.Context()
	restart := r.begin(&api.JobRestartRequest{BatchSize: 1, BatchWait: 200 * time.Millisecond, HealthGate: true, By: "ann", Reason: "it leaks"})
	if _, err := r.Client.Restarts().Start(ctx, "web", nil); api.CodeOf(err) != api.CodeConflict {
		t.Errorf("a second restart beside it: got %v, want a conflict", err)
	}
	r.until(restart.ID, "has restarted one", func(j *api.JobRestart) bool { return len(j.RestartedAllocs) > 0 })
	paused, err := r.Client.Plans().Do(ctx, "web", api.PlanRestart, api.VerbInterrupt, &api.PlanRequest{By: "bob", Reason: "lunch"})
	if err != nil {
		t.Fatal(err)
	}
	told := r.until(restart.ID, "is paused", isRestart(api.RestartPaused)).RestartedAllocs

	r.Kill()
	r.start()
	r.waitReady()
	after := r.until(restart.ID, "is paused still", isRestart(api.RestartPaused))
	if len(after.RestartedAllocs) != len(told) || after.By != "ann" || after.Reason != "it leaks" {
		t.Errorf("after kill -9 the restart is %+v; it had restarted %v", after, told)
	}
	decisions, _, err := r.Client.Plans().Decisions(ctx, "web", nil)
	if err != nil || len(decisions) != 1 || decisions[0].ID != paused.Decision.ID || decisions[0].By != "bob" || decisions[0].Reason != "lunch" {
		t.Errorf("after kill -9 the decisions are %+v, %v; want bob's", decisions, err)
	}

	if _, err := r.Client.Restarts().Resume(ctx, "web", restart.ID, &api.JobRestartVerbRequest{By: "ann"}); err != nil {
		t.Fatal(err)
	}
	done := r.until(restart.ID, "is complete", isRestart(api.RestartComplete))
	if len(done.RestartedAllocs) != 4 {
		t.Errorf("it restarted %v, want four", done.RestartedAllocs)
	}
	r.started([]int{2, 2, 2, 2})
	if list := r.allocations("web", "runs", running(4)); len(list) != 4 {
		t.Errorf("%d allocations, want the four that there were", len(list))
	}
}

// TestNothingIsRestartedTwice kills the server at seeded moments of rolling
// restarts, also between telling a node and knowing that it did.
func TestNothingIsRestartedTwice(t *testing.T) {
	const rounds, count = 5, 5
	r := newRestarted(t, count)
	rng := rand.New(rand.NewPCG(4, 1))
	want := slices.Repeat([]int{1}, count)
	for round := range rounds {
		restart := r.begin(&api.JobRestartRequest{BatchSize: 1 + rng.IntN(3)})
		wait.Pass(t.Context(), time.Duration(rng.IntN(60))*time.Millisecond)
		r.Kill()
		r.start()
		r.waitReady()
		r.until(restart.ID, fmt.Sprintf("of round %d is complete", round), isRestart(api.RestartComplete))
		for i := range want {
			want[i]++
		}
		r.started(want)
	}
}
