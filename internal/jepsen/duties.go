// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// Jobs with work that a fault must not disturb.
const (
	rollingJob  = "rolling"   // is replaced one instance after the other during the fault
	restartJob  = "restarted" // is restarted one instance after the other during the fault
	pausedJob   = "paused"    // its replacement is interrupted during the fault
	dutyMark    = "86403"
	dutyCount   = 3
	dutyHealthy = 200 * time.Millisecond // time between two steps
)

// duties are the work that is under way during a fault, and what is known about it.
type duties struct {
	*cluster
	name    string // of the round
	restart string // id
	starts  map[string]int
	paused  []string // allocations of the interrupted version when the interruption was acknowledged
	stopped bool     // reports whether the stop of the round's job was acknowledged
}

// startDuties starts the jobs and returns when all instances run.
func startDuties(ctx context.Context, c *cluster) error {
	for _, id := range []string{rollingJob, restartJob, pausedJob} {
		if err := c.registerDuty(ctx, id, "start"); err != nil {
			return err
		}
	}
	for _, id := range []string{rollingJob, restartJob, pausedJob} {
		if err := c.awaitDeployment(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// dutyJob returns a job whose instances write a line to a file of their own for each start.
func (c *cluster) dutyJob(id, version string, count int) *api.Job {
	job := testbed.ShellJob(id, count, fmt.Sprintf(`echo "$VERSION" >>%s.$NOMAD_ALLOC_INDEX; exec sleep %s`, filepath.Join(c.dir, "starts", id), dutyMark))
	one, healthy := 1, dutyHealthy
	job.Groups[0].Update.MaxParallel, job.Groups[0].Update.MinHealthyTime = &one, &healthy
	job.Groups[0].Tasks[0].Env = map[string]string{"VERSION": version}
	return job
}

// registerDuty registers a version of a job while no fault is active.
func (c *cluster) registerDuty(ctx context.Context, id, version string) error {
	err := await(ctx, c.all[0], pollInterval, func(ctx context.Context) error {
		_, err := c.all[0].Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: c.dutyJob(id, version, dutyCount)})
		return err
	})
	if err != nil {
		return fmt.Errorf("register the job %s: %w", id, err)
	}
	return nil
}

// stopJobOf returns the name of the job that a round stops.
func stopJobOf(round string) string { return "stop-" + round }

// begin starts the work shortly before the fault.
func (d *duties) begin(ctx context.Context) error {
	m := d.all[0]
	err := await(ctx, m, pollInterval, func(ctx context.Context) error {
		_, err := m.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: d.dutyJob(stopJobOf(d.name), d.name, 1)})
		return err
	})
	if err != nil {
		return err
	}
	if err := d.awaitDeployment(ctx, stopJobOf(d.name)); err != nil {
		return err
	}
	if d.starts, err = d.countStarts(); err != nil {
		return err
	}
	for _, id := range []string{rollingJob, pausedJob} {
		if err := d.registerDuty(ctx, id, d.name); err != nil {
			return err
		}
	}
	return await(ctx, m, pollInterval, func(ctx context.Context) error {
		restart, err := m.Client.Restarts().Start(ctx, restartJob, &api.JobRestartRequest{BatchWait: dutyHealthy, Reason: d.name})
		if err == nil {
			d.restart = restart.ID
			return nil
		}
		// The answer of an earlier attempt may be lost.
		list, _, listErr := m.Client.Restarts().OfJob(ctx, restartJob, nil)
		if i := slices.IndexFunc(list, func(r *api.JobRestart) bool { return r.Reason == d.name }); listErr == nil && i >= 0 {
			d.restart = list[i].ID
			return nil
		}
		return err
	})
}

// act stops the round's job and interrupts a deployment during the fault. Either may fail.
func (d *duties) act(ctx context.Context, m *testbed.Machine) {
	if _, err := m.Client.Jobs().Deregister(ctx, stopJobOf(d.name), client.DeregisterOptions{}); err == nil {
		d.stopped = true
	}
	if _, err := m.Client.Plans().Do(ctx, pausedJob, api.PlanDeploy, api.VerbInterrupt, &api.PlanRequest{By: "jepsen"}); err != nil {
		return
	}
	if ids, err := d.newest(ctx, m, pausedJob); err == nil {
		d.paused = ids
	}
}

// newest lists the allocations of the newest version of a job.
func (d *duties) newest(ctx context.Context, m *testbed.Machine, id string) ([]string, error) {
	list, _, err := m.Client.Jobs().Allocations(ctx, id, true, nil)
	if err != nil {
		return nil, err
	}
	job, _, err := m.Client.Jobs().Get(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, a := range list {
		if a.JobVersion == job.Version {
			ids = append(ids, a.ID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// check checks that the work ends as if no fault had happened.
func (d *duties) check(ctx context.Context) (f findings) {
	if d.paused != nil {
		now, err := eventually(ctx, d.cluster, func(ctx context.Context) ([]string, error) { return d.newest(ctx, d.all[0], pausedJob) })
		if err != nil {
			f.add(fmt.Errorf("list the allocations of the job %s after the fault: %w", pausedJob, err))
		} else if !slices.Equal(now, d.paused) {
			f.violate("the deployment of the job %s continued after its interruption was acknowledged: allocations %v became %v", pausedJob, d.paused, now)
		}
	}
	if err := d.retry(ctx, func(ctx context.Context) error {
		_, err := d.all[0].Client.Plans().Do(ctx, pausedJob, api.PlanDeploy, api.VerbContinue, &api.PlanRequest{By: "jepsen"})
		if api.CodeOf(err) == api.CodeConflict || api.CodeOf(err) == api.CodeNotFound {
			return nil // nothing is interrupted
		}
		return err
	}); err != nil {
		f.add(fmt.Errorf("continue the deployment of the job %s: %w", pausedJob, err))
	}
	for _, id := range []string{rollingJob, pausedJob} {
		f.add(d.awaitDeployment(ctx, id))
	}
	f.add(d.retry(ctx, func(ctx context.Context) error {
		r, _, err := d.all[0].Client.Restarts().Get(ctx, d.restart, nil)
		if err == nil && r.Status != api.RestartComplete {
			err = fmt.Errorf("the restart %s of the job %s is %s (%s) after %d instances", r.ID, r.JobID, r.Status, r.StatusDescription, len(r.RestartedAllocs))
		}
		return err
	}))
	if len(f.undecided) == 0 {
		d.checkStarts(ctx, &f)
	}
	return f
}

// checkStarts checks that each instance was started exactly once, and that the stopped job stays so.
func (d *duties) checkStarts(ctx context.Context, f *findings) {
	// A restart counts as complete when the instance runs, and its line may follow.
	f.add(d.retry(ctx, func(ctx context.Context) error {
		now, err := d.countStarts()
		if err != nil {
			return err
		}
		for _, id := range []string{rollingJob, restartJob, pausedJob} {
			for i := range dutyCount {
				key := fmt.Sprintf("%s.%d", id, i)
				if n := now[key] - d.starts[key]; n != 1 {
					return contradict("%s was started %d times during the round, want once", key, n)
				}
			}
		}
		return nil
	}))
	if d.stopped {
		for i, m := range d.all {
			job, err := eventually(ctx, d.cluster, func(ctx context.Context) (*api.Job, error) {
				job, _, err := m.Client.Jobs().Get(ctx, stopJobOf(d.name), nil)
				return job, err
			})
			if err != nil {
				f.add(fmt.Errorf("read the job %s through server %d after the fault: %w", stopJobOf(d.name), i, err))
			} else if !job.Stop {
				f.violate("the stop of the job %s was acknowledged, and server %d shows it as running", stopJobOf(d.name), i)
			}
		}
	}
	f.add(d.retry(ctx, func(ctx context.Context) error {
		if !d.stopped {
			_, err := d.all[0].Client.Jobs().Deregister(ctx, stopJobOf(d.name), client.DeregisterOptions{})
			if err != nil {
				return err
			}
		}
		for pid, name := range processes(d.cluster, dutyMark) {
			if strings.HasPrefix(name, stopJobOf(d.name)+".") {
				return contradict("the job %s was stopped, and its process %d still runs", stopJobOf(d.name), pid)
			}
		}
		return nil
	}))
}

// retry calls try until it succeeds, for the harness's patience.
func (c *cluster) retry(ctx context.Context, try func(context.Context) error) error {
	return await(ctx, c.all[0], 5*pollInterval, try)
}

// eventually returns the first successful answer: under load, a leader may change without a fault.
func eventually[T any](ctx context.Context, c *cluster, ask func(context.Context) (T, error)) (answer T, err error) {
	err = c.retry(ctx, func(ctx context.Context) (err error) {
		answer, err = ask(ctx)
		return err
	})
	return answer, err
}

// awaitDeployment returns when the newest version of a job is deployed.
func (c *cluster) awaitDeployment(ctx context.Context, id string) error {
	err := c.retry(ctx, func(ctx context.Context) error {
		d, _, err := c.all[0].Client.Jobs().LatestDeployment(ctx, id, nil)
		if err != nil {
			return err
		}
		job, _, err := c.all[0].Client.Jobs().Get(ctx, id, nil)
		if err != nil {
			return err
		}
		if d == nil || d.JobVersion != job.Version {
			return fmt.Errorf("version %d has no deployment yet", job.Version)
		}
		if d.Status != api.DeploymentSuccessful {
			return fmt.Errorf("the deployment of version %d is %s: %s", d.JobVersion, d.Status, d.StatusDescription)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the deployment of the job %s does not succeed: %w", id, err)
	}
	return nil
}

// countStarts counts the lines that the instances wrote, by job and index.
func (c *cluster) countStarts() (map[string]int, error) {
	counts := map[string]int{}
	dir := filepath.Join(c.dir, "starts")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		counts[e.Name()] = strings.Count(string(text), "\n")
	}
	return counts, nil
}
