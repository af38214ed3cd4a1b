// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// Jobs with processes, and the argument by which their processes are known.
const (
	steadyJob  = "steady" // no round changes it
	steadyMark = "86401"
	churnJob   = "churn" // every round replaces its instances during the fault
	churnMark  = "86402"
	churnCount = 4
)

// startSteady starts one process on each server and returns when all of them run.
func startSteady(ctx context.Context, c *cluster) (map[int]string, error) {
	job := testbed.ShellJob(steadyJob, len(c.all), "exec sleep "+steadyMark)
	job.Constraints = []*api.Constraint{{Operand: "distinct_hosts", RTarget: "true"}}
	if _, err := c.all[0].Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: job}); err != nil {
		return nil, fmt.Errorf("start the job %s: %w", steadyJob, err)
	}
	return awaitProcesses(ctx, c, steadyMark, len(c.all))
}

// awaitProcesses returns the processes with the mark, with the allocations that they belong to, once
// their number is as expected.
func awaitProcesses(ctx context.Context, c *cluster, mark string, count int) (map[int]string, error) {
	var found map[int]string
	err := c.retry(ctx, func(context.Context) error {
		if found = processes(c, mark); len(found) != count {
			return fmt.Errorf("%d processes %q run, not %d: %v", len(found), "sleep "+mark, count, found)
		}
		return nil
	})
	return found, err
}

// processes returns the running tasks with a mark, by process id: the names of their allocations.
func processes(c *cluster, mark string) map[int]string {
	found := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if argv := testbed.CommandLine(pid); len(argv) != 2 || filepath.Base(argv[0]) != "sleep" || argv[1] != mark {
			continue
		}
		env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		own := slices.ContainsFunc(c.all, func(m *testbed.Machine) bool { return strings.Contains(string(env), m.Dir) })
		if !own {
			continue // of another run
		}
		for v := range strings.SplitSeq(string(env), "\x00") {
			if name, ok := strings.CutPrefix(v, "NOMAD_ALLOC_NAME="); ok {
				found[pid] = name
			}
		}
	}
	return found
}

// registerChurn replaces all instances of the job churn.
func registerChurn(ctx context.Context, m *testbed.Machine, round string) error {
	job := testbed.ShellJob(churnJob, churnCount, "exec sleep "+churnMark)
	job.Groups[0].Tasks[0].Env = map[string]string{"ROUND": round}
	_, err := m.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: job})
	return err
}

// checkTasks checks the processes and allocations after a fault.
func checkTasks(ctx context.Context, f *findings, c *cluster, steady map[int]string) {
	if now := processes(c, steadyMark); !maps.Equal(now, steady) {
		f.violate("the fault changed the processes of the job %s from %v to %v", steadyJob, steady, now)
	}
	err := c.retry(ctx, func(ctx context.Context) error {
		list, _, err := c.all[0].Client.Jobs().Allocations(ctx, churnJob, true, nil)
		if err != nil {
			return err
		}
		live, newest := map[string]int{}, uint64(0)
		for _, a := range list {
			newest = max(newest, a.JobVersion)
		}
		for _, a := range list {
			if a.DesiredStatus == api.AllocDesiredRun && a.ClientStatus == api.AllocClientRunning && a.JobVersion == newest {
				live[a.Name]++
			}
		}
		running := map[string]int{}
		for _, name := range processes(c, churnMark) {
			running[name]++
		}
		for name, n := range running {
			if n != 1 {
				return contradict("%d processes of %s", n, name)
			}
		}
		if len(live) != churnCount || !maps.Equal(live, running) {
			return fmt.Errorf("live allocations of the newest version %v, processes %v, want %d of each", live, running, churnCount)
		}
		return nil
	})
	if err != nil {
		f.add(fmt.Errorf("the job %s does not converge: %w", churnJob, err))
	}
}

// checkIndexes finds the instances that several live allocations hold. A live allocation may
// wait for the end of its predecessor, which no longer has the desired status run.
func checkIndexes(f *findings, list []*api.AllocationListStub) {
	live := map[string][]string{}
	for _, a := range list {
		if a.DesiredStatus == api.AllocDesiredRun && (a.ClientStatus == api.AllocClientRunning || a.ClientStatus == api.AllocClientPending) {
			live[a.Name] = append(live[a.Name], a.ID)
		}
	}
	for name, ids := range live {
		if len(ids) > 1 {
			f.violate("%d live allocations hold %s: %v", len(ids), name, ids)
		}
	}
}
