// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/clitest"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func TestPagesAboutTheCluster(t *testing.T) {
	config := api.DefaultSchedulerConfig()
	config.ZoneAttribute, config.MaxStartingPerNode = "${meta.zone}", 4
	config.Preemption.ServiceSchedulerEnabled, config.Rejections.MarkIneligible, config.ModifyIndex = true, true, 42
	gpu := &api.NodePool{
		Name: "gpu", Description: "Nodes with graphics cards", Meta: map[string]string{"team": "ml"}, ModifyIndex: 7,
		SchedulerConfig: &api.NodePoolSchedulerConfig{Algorithm: api.AlgorithmSpread, MemoryOversubscriptionEnabled: ptr(false)},
	}
	preempted, urgent := testAllocation(), testAllocation()
	preempted.DesiredStatus, preempted.DesiredDescription = api.AllocDesiredEvict, `preempted by allocation a2a2a2a2 of job "urgent", which has priority 90`
	preempted.PreemptedByAllocation = clitest.OtherID
	urgent.ID, urgent.PreemptedAllocations, urgent.ClientStatus = clitest.OtherID, []string{clitest.AllocID, clitest.EvalID}, api.AllocClientPending
	urgent.ClientDescription = "Waits for the end of what it takes over from, on the same node"
	urgent.TaskStates, preempted.TaskStates = nil, nil
	plan := &api.PlanJobResponse{JobModifyIndex: 7, Annotations: &api.PlanAnnotations{
		DesiredUpdates:  map[string]*api.DesiredUpdates{"server": {Place: 1, Preemptions: 1}},
		PreemptedAllocs: []*api.AllocationListStub{preempted.Stub()},
	}}
	for name, write := range map[string]func(*term.Page){
		"scheduler":  func(p *term.Page) { SchedulerConfig(p, config) },
		"node_pools": func(p *term.Page) { NodePools(p, []*api.NodePool{{Name: "all", Description: "Every node"}, gpu}) },
		"node_pool":  func(p *term.Page) { NodePool(p, gpu) },
		"preempted":  func(p *term.Page) { Allocation(p, &AllocationStatus{Allocation: preempted}, false) },
		"preempting": func(p *term.Page) { Allocation(p, &AllocationStatus{Allocation: urgent}, false) },
		"plan_preempting": func(p *term.Page) {
			JobPlan(p, plan, &api.PlanJobRequest{Job: testJob()}, []string{"urgent.hcl"})
		},
	} {
		p := &term.Page{Now: clitest.Now}
		write(p)
		clitest.Golden(t, "pages/"+name+".txt", p.String())
	}
}

func TestPageAboutACluster(t *testing.T) {
	day := 24 * time.Hour
	server := func(id, name, status string, leader, healthy bool) *api.ServerStatus {
		return &api.ServerStatus{
			ID: id + clitest.AllocID[8:], Name: name, Address: "10.0.0." + id[:1] + ":4646", Version: "0.1.0", Status: status,
			Leader: leader, Voter: true, Healthy: healthy, LastContact: 3 * time.Minute, Expires: clitest.Now.Add(80 * day).UnixNano(),
		}
	}
	s := &ClusterStatus{
		Address: "https://10.0.0.1:4646", Leader: "10.0.0.1:4646", Servers: []string{"10.0.0.1:4646", "10.0.0.2:4646", "10.0.0.3:4646"},
		Members: []*api.ServerStatus{
			server("11111111", "one", api.ServerAlive, true, true), server("22222222", "two", api.ServerAlive, false, true),
			server("33333333", "three", api.ServerFailed, false, false),
		},
		Attention: []*api.Attention{
			{Kind: api.AttentionQuorum, Message: "2 of 3 voting servers answer: the cluster stops when another one fails", Next: "Start the servers that do not answer: reeve server list"},
			{Kind: api.AttentionServer, Message: "Server three does not answer", Since: clitest.Now.Add(-3 * time.Minute), Next: "Start it, or remove it: reeve server remove 33333333"},
			{Kind: api.AttentionJoin, Message: "Machine db-1 was refused: join: the token is not valid", Since: clitest.Now.Add(-time.Hour), Count: 4},
		},
	}
	s.Snapshots = []*api.SnapshotSchedule{
		{Name: "one", Enabled: true, Last: &api.SavedSnapshot{Time: clitest.Now.Add(-2 * time.Hour), Bytes: 3 << 20}},
		{Name: "two", Enabled: true, Directory: "/backup", Failure: "no space left on device", FailedSince: clitest.Now.Add(-time.Hour)},
	}
	s.Attention = append(s.Attention, AttentionToSnapshots(s.Snapshots)...)
	waiting := func(job string) *api.Plan {
		return &api.Plan{JobID: job, Namespace: api.DefaultNamespace, Name: api.PlanDeploy, Status: api.PlanWaiting, Interrupted: true}
	}
	s.Attention = append(s.Attention, AttentionToPlans([]*api.Plan{waiting("a"), waiting("b"), waiting("c"), waiting("d"), waiting("e"), waiting("f")}, api.PlanWaiting)...)
	p := &term.Page{Now: clitest.Now}
	Cluster(p, s)
	clitest.Golden(t, "pages/cluster.txt", p.String())
}
