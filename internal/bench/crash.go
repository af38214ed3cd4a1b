// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// crashRounds is the number of kills of a task of each kind.
const crashRounds = 100

const crashBar = "p50 <= 30 ms"

// crash measures from the kill of a task's process to the start of the instance's next one: in
// place by the restart policy, and in a new allocation if that policy allows no restart, both
// with immediate attempts.
func crash(ctx context.Context, b *bench) error {
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	hour, none := time.Hour, time.Duration(0)
	many, no := 10*crashRounds, 0
	in := testbed.Job("in-place", "raw_exec", 1, sleepForever)
	in.Groups[0].Restart = &api.Restart{Attempts: &many, Interval: &hour, Immediate: &many, Delay: &none}
	anew := testbed.Job("anew", "raw_exec", 1, sleepForever)
	anew.Groups[0].Restart = &api.Restart{Attempts: &no}
	anew.Groups[0].Reschedule = &api.Reschedule{Unlimited: new(true), Immediate: &many, Delay: new(5 * time.Second)}
	for _, kind := range []struct {
		job  *api.Job
		what string
	}{
		{in, "a crash -> the task's next process started, in place"},
		{anew, "... by a new allocation: reported, evaluated, placed, started"},
	} {
		t, err := crashes(ctx, m, kind.job)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.job.ID, err)
		}
		b.add(kind.what, crashBar, "%s", t)
	}
	return nil
}

// crashes kills the process of a job's only task repeatedly.
func crashes(ctx context.Context, m *machine, job *api.Job) (t times, err error) {
	if err := register(ctx, m, job); err != nil {
		return nil, err
	}
	if err := m.allRunning(ctx, job.ID, 1); err != nil {
		return nil, err
	}
	last := time.Time{}
	for range crashRounds {
		pid := 0
		err := m.poll(ctx, func(ctx context.Context) error {
			started, its, err := newestStart(ctx, m, job.ID)
			if err == nil && !started.After(last) {
				err = fmt.Errorf("no process was started after %s", last)
			}
			if err == nil {
				last, pid = started, its
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return nil, fmt.Errorf("kill process %d: %w", pid, err)
		}
		err = m.poll(ctx, func(ctx context.Context) error {
			started, _, err := newestStart(ctx, m, job.ID)
			if err == nil && !started.After(began) {
				err = fmt.Errorf("no process was started since the crash")
			}
			if err == nil {
				t = append(t, started.Sub(began))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	_, err = m.Client.Jobs().Deregister(ctx, job.ID, purge)
	return t, err
}

// newestStart returns when the newest process of a job's task was started, as reported by its
// node, and its pid.
func newestStart(ctx context.Context, m *machine, job string) (at time.Time, pid int, err error) {
	list, _, err := m.Client.Jobs().Allocations(ctx, job, true, nil)
	if err != nil {
		return at, 0, err
	}
	for _, a := range list {
		s := a.TaskStates["task"]
		if s == nil || s.State != api.TaskStateRunning || !s.StartedAt.After(at) {
			continue
		}
		for _, e := range s.Events {
			if n := 0; e.Type == api.EventStarted {
				if _, err := fmt.Sscanf(e.DisplayMessage, "Runs as process %d", &n); err == nil {
					at, pid = s.StartedAt, n
				}
			}
		}
	}
	if pid == 0 {
		return at, 0, fmt.Errorf("no task of %s runs", job)
	}
	return at, pid, nil
}
