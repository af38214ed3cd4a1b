// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// populateStacks stores 10,000 ready stacks in 2,000 units with 8,000 dependencies, and jobs
// that want no instances.
func populateStacks(b *testing.B, p proposer) {
	b.Helper()
	now := time.Now()
	for unit := range 2000 {
		var cmds []state.Command
		for minor := range 5 {
			job := stackJob(fmt.Sprintf("unit-%d", unit), fmt.Sprintf("1.%d.0", minor))
			if minor > 0 && unit > 0 {
				job.Stack.Depends = []*api.StackDependency{{Unit: fmt.Sprintf("unit-%d", unit/2), Version: fmt.Sprintf("1.%d", minor)}}
			}
			v := api.StackVersion{Major: 1, Minor: uint32(minor)}
			s := &api.Stack{
				ID: api.NewID(), Name: api.StackName(job.ID, v, fmt.Sprintf("%08d", unit)), Namespace: "default", Unit: job.ID, Version: v,
				Spec: job.Stack, Shape: api.ShapeService, Status: api.StackReady, StatusSince: now, DeployedAt: now, RunningAt: now, Expires: now.Add(api.DefaultInitialTTL),
			}
			job.ID = s.Name
			job.Groups[0].Count = ptr(0)
			job.Canonicalize()
			cmds = append(cmds, &state.RegisterJob{Job: job}, state.PutStack(s))
		}
		if _, err := p.Propose(b.Context(), cmds...); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStackDeploy measures the time from a request until the deployment of a new version is accepted, durably,
// among 10,000 stacks. Target: p50 2 ms.
func BenchmarkStackDeploy(b *testing.B) {
	c := start(b, silent(b, b.TempDir()))
	defer c.close()
	populateStacks(b, c.Replica())
	took := make([]time.Duration, b.N)
	runtime.GC()
	before := costsOf(c.Replica())
	b.ResetTimer()
	for i := range took {
		unit := 1 + i%1999
		job := stackJob(fmt.Sprintf("unit-%d", unit), fmt.Sprintf("1.%d.0", 5+i/1999), fmt.Sprintf("unit-%d@1.0", unit/2))
		began := time.Now()
		if _, err := c.DeployStacks(b.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{job}, By: "ann"}, "default"); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	b.StopTimer()
	report(b, took)
	before.reportSince(b, c.Replica(), "deploy", b.N)
}

// BenchmarkStackStatus measures the status of one stack with one caller, by its name and by its unit and version,
// among 10,000 stacks. Target: 50 us.
func BenchmarkStackStatus(b *testing.B) {
	c := start(b, silent(b, b.TempDir()))
	defer c.close()
	populateStacks(b, c.Replica())
	snap := c.Store().Snapshot()
	for name, of := range map[string]string{"name": "unit-1500--1-2-0--00001500", "version": "unit-1500@1.2"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if s, _, err := server.Stack(snap, "default", of); err != nil || s.Shown != api.StackReady {
					b.Fatal(s, err)
				}
			}
		})
	}
}
