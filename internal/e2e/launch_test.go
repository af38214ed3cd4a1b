// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestStepsAreDoneOnceOverKill9 kills server and agent in the middle of
// deployments whose steps launch one task of an instance after the other: each
// is launched once, in order, by whoever is there.
func TestStepsAreDoneOnceOverKill9(t *testing.T) {
	m := newMachine(t)
	diary := filepath.Join(m.Dir, "diary")
	rng := rand.New(rand.NewPCG(3, 4))
	const rounds, instances = 8, 3
	var want []string
	for round := range rounds {
		id := fmt.Sprintf("steps-%d", round)
		m.register(steppedJob(id, instances, diary))
		wait.Pass(t.Context(), time.Duration(rng.IntN(80))*time.Millisecond)
		m.Kill()
		m.start()
		m.eventually(id+" is deployed", func(ctx context.Context) error {
			d, _, err := m.Client.Jobs().LatestDeployment(ctx, id, nil)
			if err != nil {
				return err
			}
			if d == nil || d.Status != api.DeploymentSuccessful {
				return fmt.Errorf("deployment %+v", d)
			}
			return nil
		})
		for i := range instances {
			want = append(want, fmt.Sprintf("%s.main[%d] prepare", id, i), fmt.Sprintf("%s.main[%d] server", id, i))
		}
	}
	got := m.lines(diary, len(want))
	// Of one instance: a server counts as running before it has written a line.
	sort.SliceStable(got, func(i, j int) bool { return strings.Fields(got[i])[0] < strings.Fields(got[j])[0] })
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("runs of tasks (-want +got):\n%s", d)
	}
}

// lines returns the lines of a file once there are n: a process counts as running
// before it has written any.
func (m *machine) lines(path string, n int) (list []string) {
	m.t.Helper()
	m.eventually(fmt.Sprintf("%d lines are written", n), func(context.Context) error {
		if list = read(m.t, path); len(list) < n {
			return fmt.Errorf("there are %d: %v", len(list), list)
		}
		return nil
	})
	return list
}

// read returns the lines of a file.
func read(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// steppedJob is a job whose tasks write into a diary that they run: first
// prepare, then server, instance after instance.
func steppedJob(id string, count int, diary string) *api.Job {
	write := func(what string) map[string]any {
		return map[string]any{"command": "/bin/sh", "args": []string{"-c", `echo "$NOMAD_ALLOC_NAME $NOMAD_TASK_NAME" >> ` + diary + "; " + what}}
	}
	job := testbed.ShellJob(id, count, "")
	g := job.Groups[0]
	g.Name = "main"
	g.Update = &api.Update{MinHealthyTime: ptr(time.Duration(0)), MaxParallel: ptr(1)}
	server := g.Tasks[0]
	server.Name, server.Config, server.Restart = "server", write("exec sleep 1000"), &api.Restart{Attempts: ptr(0)}
	prepare := *server
	prepare.Name, prepare.Config, prepare.Goal = "prepare", write("sleep 0.02"), api.GoalOnce
	g.Tasks = []*api.Task{&prepare, server}
	job.Plans = []*api.PlanSpec{{Name: "deploy", Phases: []*api.PhaseSpec{{
		Name: "main", Steps: []*api.StepSpec{{Tasks: []string{"prepare"}}, {Tasks: []string{"server"}}},
	}}}}
	return job
}

// TestCustomRunsAreDoneOnceOverKill9 kills server and agent around the launch of
// a custom plan's task in a running instance.
func TestCustomRunsAreDoneOnceOverKill9(t *testing.T) {
	m := newMachine(t)
	diary := filepath.Join(m.Dir, "diary")
	job := steppedJob("backed-up", 1, diary)
	g := job.Groups[0]
	backup := *g.Tasks[0]
	backup.Name, backup.Goal = "backup", api.GoalFinish
	backup.Config = map[string]any{"command": "/bin/sh", "args": []string{"-c", "sleep 0.02; echo backup $ROUND >> " + diary}}
	g.Tasks = append(g.Tasks, &backup)
	g.EphemeralDisk = &api.EphemeralDisk{SizeMB: ptr(500)}
	job.Plans = append(job.Plans, &api.PlanSpec{Name: "backup", Phases: []*api.PhaseSpec{{Name: "main", Steps: []*api.StepSpec{{Tasks: []string{"backup"}}}}}})
	m.register(job)
	m.allocations("backed-up", "runs", func(list []*api.AllocationListStub) bool {
		return len(list) == 1 && list[0].TaskStates["server"] != nil && list[0].TaskStates["server"].State == api.TaskStateRunning
	})
	rng := rand.New(rand.NewPCG(5, 6))
	want := []string{"backed-up.main[0] prepare", "backed-up.main[0] server"}
	for round := range 10 {
		resp, err := m.Client.Plans().Do(t.Context(), "backed-up", "backup", api.VerbStart,
			&api.PlanRequest{Parameters: map[string]string{"ROUND": fmt.Sprint(round)}, By: "e2e"})
		if err != nil {
			t.Fatal(err)
		}
		wait.Pass(t.Context(), time.Duration(rng.IntN(60))*time.Millisecond)
		m.Kill()
		m.start()
		m.eventually(fmt.Sprintf("run %d is over", round), func(ctx context.Context) error {
			p, _, err := m.Client.Plans().Get(ctx, "backed-up", "backup", nil)
			if err != nil {
				return err
			}
			if p.Status != api.PlanComplete || p.Run != resp.Decision.ID {
				return fmt.Errorf("the plan is %s, of run %s", p.Status, p.Run)
			}
			return nil
		})
		want = append(want, fmt.Sprintf("backup %d", round))
	}
	got := m.lines(diary, len(want))
	sort.Strings(got)
	sort.Strings(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("runs of tasks (-want +got):\n%s", d)
	}
}
