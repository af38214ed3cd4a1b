// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/reeve-run/reeve/api"
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
	preempted.PreemptedByAllocation = otherID
	urgent.ID, urgent.PreemptedAllocations, urgent.ClientStatus = otherID, []string{allocID, evalID}, api.AllocClientPending
	urgent.ClientDescription = "Waits for the end of what it takes over from, on the same node"
	urgent.TaskStates, preempted.TaskStates = nil, nil
	plan := &api.PlanJobResponse{JobModifyIndex: 7, Annotations: &api.PlanAnnotations{
		DesiredUpdates:  map[string]*api.DesiredUpdates{"server": {Place: 1, Preemptions: 1}},
		PreemptedAllocs: []*api.AllocationListStub{preempted.Stub()},
	}}
	for name, write := range map[string]func(*page){
		"scheduler":  func(p *page) { p.schedulerConfig(config) },
		"node_pools": func(p *page) { p.nodePools([]*api.NodePool{{Name: "all", Description: "Every node"}, gpu}) },
		"node_pool":  func(p *page) { p.nodePool(gpu) },
		"preempted":  func(p *page) { p.allocation(&allocationStatus{Allocation: preempted}, false) },
		"preempting": func(p *page) { p.allocation(&allocationStatus{Allocation: urgent}, false) },
		"plan_preempting": func(p *page) {
			p.plan(plan, &api.PlanJobRequest{Job: testJob()}, []string{"urgent.hcl"})
		},
	} {
		p := &page{now: testNow}
		write(p)
		golden(t, "pages/"+name+".txt", p.String())
	}
}
