// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// crashing is a service of one instance that writes down when it is started, and
// crashes at its first starts.
func crashing(id, log string, times int, policy *api.Restart) *api.Job {
	job := testbed.ShellJob(id, 1, fmt.Sprintf("date +%%s%%N >> %s; [ $(wc -l < %s) -gt %d ] && exec sleep 100017; exit 17", log, log, times))
	job.Groups[0].Restart = policy
	return job
}

// starts are the times at which a task was started, as it wrote them down.
func starts(t *testing.T, log string) (all []time.Time) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, time.Unix(0, ns))
	}
	return all
}

// startsOf waits until a task was started n times: it runs before it has written
// that down.
func (m *machine) startsOf(log string, n int) (at []time.Time) {
	m.t.Helper()
	m.eventually(fmt.Sprintf("it was started %d times", n), func(context.Context) error {
		if at = starts(m.t, log); len(at) != n {
			return fmt.Errorf("it was started %d times", len(at))
		}
		return nil
	})
	return at
}

// TestTwoCrashesAreRestartedAtOnceTheThirdWaits is the policy as it is most often
// written: the first attempts at once, then after a delay, at its time; the count
// stays while the instance crashes, and begins anew after health.
func TestTwoCrashesAreRestartedAtOnceTheThirdWaits(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	log := filepath.Join(t.TempDir(), "starts")
	// What crashes must not count as well before it has, on a slow machine either.
	const delay, resetAfter = 4 * time.Second, 3 * time.Second
	m.register(crashing("flaky", log, 3, &api.Restart{
		Attempts: ptr(199), Immediate: ptr(2), Delay: ptr(delay), DelayFunction: ptr(api.DelayExponential), MaxDelay: ptr(16 * time.Minute), ResetAfter: ptr(resetAfter),
	}))
	waits := m.instance("flaky", "has crashed three times", func(in *api.Instance) bool { return in.CrashCount == 3 })
	if waits.State != api.InstanceCrashed || !strings.Contains(waits.CrashReason, "17") || waits.NextAttempt.Sub(waits.Since) < delay || waits.Address != "" || waits.Routable {
		t.Errorf("after the third crash it is %+v", waits)
	}
	back := m.instance("flaky", "runs again", func(in *api.Instance) bool { return in.State == api.InstanceRunning })
	if back.CrashCount != 3 || back.ModificationTag.Epoch != waits.ModificationTag.Epoch || back.ModificationTag.Index <= waits.ModificationTag.Index {
		t.Errorf("restarted in place it is %+v, and was %+v", back, waits)
	}
	at := m.startsOf(log, 4)
	for i, least := range []time.Duration{0, 0, delay} {
		gap := at[i+1].Sub(at[i])
		if gap < least || gap >= least+delay {
			t.Errorf("start %d came %s after the one before, want about %s", i+2, gap, least)
		}
	}

	m.eventually("it was well for longer than reset_after", func(context.Context) error {
		if well := time.Since(back.Since); well < resetAfter+500*time.Millisecond {
			return fmt.Errorf("it is well for %s", well)
		}
		return nil
	})
	pids := m.pidsOf("sleep", "100017")
	if len(pids) != 1 {
		t.Fatalf("its processes are %v", pids)
	}
	killed := time.Now()
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	again := m.instance("flaky", "was restarted after health", func(in *api.Instance) bool {
		return in.State == api.InstanceRunning && in.ModificationTag.Index > back.ModificationTag.Index && in.CrashCount != 3
	})
	if again.CrashCount != 1 {
		t.Errorf("after health the crash is counted as %d", again.CrashCount)
	}
	if at := m.startsOf(log, 5); at[4].Sub(killed) >= delay {
		t.Errorf("killed at %s, it was started at %v", killed, at)
	}
}

// TestACrashedInstanceGoesWithItsJob ends jobs whose instances wait for their next
// attempt: nothing of them is left, and nothing is started any more. A killed one,
// other than in systems where it would be gone, comes back at once.
func TestACrashedInstanceGoesWithItsJob(t *testing.T) {
	m := newMachine(t)
	dir := t.TempDir()
	policy := func() *api.Restart {
		return &api.Restart{Attempts: ptr(199), Delay: ptr(time.Hour), ResetAfter: ptr(time.Hour)}
	}
	isCrashed := func(in *api.Instance) bool { return in.State == api.InstanceCrashed && !in.NextAttempt.IsZero() }
	for _, purge := range []bool{false, true} {
		id := fmt.Sprintf("gone-%t", purge)
		log := filepath.Join(dir, id)
		m.register(crashing(id, log, 1, policy()))
		m.instance(id, "waits", isCrashed)
		if _, err := m.Client.Jobs().Deregister(t.Context(), id, client.DeregisterOptions{Purge: purge}); err != nil {
			t.Fatal(err)
		}
		m.eventually("nothing is left of "+id, func(ctx context.Context) error {
			list, _, err := m.Client.Instances().All(ctx, client.InstancesFilter{Job: id}, nil)
			if err == nil && len(list) > 0 {
				err = fmt.Errorf("instances: %+v", list[0])
			}
			return err
		})
		if n := len(starts(t, log)); n != 1 {
			t.Errorf("%s was started %d times", id, n)
		}
	}
	log := filepath.Join(dir, "killed")
	m.register(crashing("killed", log, 1, policy()))
	was := m.instance("killed", "waits", isCrashed)
	if _, err := m.Client.Instances().Kill(t.Context(), "killed", "0"); err != nil {
		t.Fatal(err)
	}
	m.instance("killed", "is back as another allocation", func(in *api.Instance) bool {
		return in.State == api.InstanceRunning && in.Allocation != was.Allocation
	})
	m.startsOf(log, 2)
}

// TestJobsThatGoAsTheyComeLeaveNothing removes jobs between their placement and
// the start of their tasks.
func TestJobsThatGoAsTheyComeLeaveNothing(t *testing.T) {
	m := newMachine(t)
	for i := range 30 {
		id := fmt.Sprintf("brief-%d", i)
		m.register(testbed.ShellJob(id, 2, "exec sleep 100013"))
		if i%3 > 0 { // let it get as far as its allocations, or their start
			m.eventually(id+" is placed", func(ctx context.Context) error {
				list, _, err := m.Client.Jobs().Allocations(ctx, id, true, nil)
				if err == nil && len(list) == 0 {
					err = fmt.Errorf("nothing is placed")
				}
				return err
			})
		}
		if _, err := m.Client.Jobs().Deregister(t.Context(), id, client.DeregisterOptions{Purge: true}); err != nil {
			t.Fatal(err)
		}
	}
	left := ""
	defer func() {
		if t.Failed() {
			t.Log(left)
		}
	}()
	m.eventually("nothing is left", func(ctx context.Context) error {
		list, _, err := m.Client.Instances().All(ctx, client.InstancesFilter{}, nil)
		if err != nil {
			return err
		}
		jobs, _, err := m.Client.Jobs().List(ctx, nil)
		if err != nil {
			return err
		}
		pids := m.pidsOf("sleep", "100013")
		if len(list)+len(jobs)+len(pids) == 0 {
			return nil
		}
		left = fmt.Sprintf("%d instances, %d jobs and processes %v are left", len(list), len(jobs), pids)
		for _, j := range jobs {
			left += fmt.Sprintf("\n%s %s stop=%t (%s)", j.ID, j.Status, j.Stop, j.StatusDescription)
		}
		for _, in := range list {
			left += fmt.Sprintf("\n%+v", in)
		}
		return errors.New(left)
	})
}
