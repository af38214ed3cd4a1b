// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// BenchmarkPlans lists the plans of 10,000 jobs of 10 instances each.
func BenchmarkPlans(b *testing.B) {
	const jobs, instances = 10_000, 10
	srv, err := server.New(server.Config{})
	if err != nil {
		b.Fatal(err)
	}
	store := srv.Store()
	apply := func(cmds ...state.Command) {
		for i, err := range store.Apply(store.Index()+1, cmds) {
			if err != nil {
				b.Fatalf("%s: %v", cmds[i].Name(), err)
			}
		}
	}
	for n := range 100 {
		apply(&state.RegisterNode{Node: &api.Node{ID: fmt.Sprintf("n%d", n), Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible}})
	}
	healthy := true
	for i := range jobs {
		job := serviceJob(fmt.Sprintf("job-%d", i), instances)
		job.Canonicalize()
		apply(&state.RegisterJob{Job: job})
		job = store.Snapshot().Job(job.Namespace, job.ID)
		p := &state.Placement{Job: job, Time: 1, Deployment: &api.Deployment{
			ID: fmt.Sprintf("d%d", i), Namespace: job.Namespace, JobID: job.ID, JobCreateIndex: job.CreateIndex, JobModifyIndex: job.JobModifyIndex,
			Status: api.DeploymentRunning, Groups: map[string]*api.DeploymentState{job.Groups[0].Name: {DesiredTotal: instances}},
		}}
		var updates []*api.Allocation
		for k := range instances {
			a := &api.Allocation{
				ID: fmt.Sprintf("a%d-%d", i, k), Namespace: job.Namespace, JobID: job.ID, Job: job, Group: job.Groups[0].Name,
				Name: api.AllocName(job.ID, job.Groups[0].Name, k), NodeID: fmt.Sprintf("n%d", k), DeploymentID: p.Deployment.ID,
			}
			p.Place = append(p.Place, a)
			updates = append(updates, &api.Allocation{ID: a.ID, ClientStatus: api.AllocClientRunning, DeploymentStatus: &api.AllocDeploymentStatus{Healthy: &healthy}})
		}
		apply(&state.CommitPlacement{Placement: p}, &state.UpdateAllocations{Allocations: updates, Time: 2})
	}
	b.ReportAllocs()
	for b.Loop() {
		plans, _, err := srv.Plans(b.Context(), "*")
		if err != nil || len(plans) < jobs {
			b.Fatalf("%d plans, %v", len(plans), err)
		}
	}
}
