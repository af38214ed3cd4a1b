// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

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
