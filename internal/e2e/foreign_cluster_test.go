// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	nomad "github.com/hashicorp/nomad/api"
)

func TestForeignClientConfiguresTheScheduler(t *testing.T) {
	f := newForeign(t)
	op := f.api.Operator()
	got, _, err := op.SchedulerGetConfiguration(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &nomad.SchedulerConfiguration{SchedulerAlgorithm: nomad.SchedulerAlgorithmBinpack, PreemptionConfig: nomad.PreemptionConfig{SystemSchedulerEnabled: true}}
	if diff := cmp.Diff(want, got.SchedulerConfig); diff != "" {
		t.Errorf("a new cluster's configuration (-want +got):\n%s", diff)
	}
	want.SchedulerAlgorithm = nomad.SchedulerAlgorithmSpread
	want.PreemptionConfig.ServiceSchedulerEnabled, want.MemoryOversubscriptionEnabled = true, true
	if res, _, err := op.SchedulerSetConfiguration(want, nil); err != nil || !res.Updated {
		t.Fatalf("set: %+v, %v", res, err)
	}
	if got, _, err = op.SchedulerGetConfiguration(nil); err != nil {
		t.Fatal(err)
	}
	want.CreateIndex, want.ModifyIndex = got.SchedulerConfig.CreateIndex, got.SchedulerConfig.ModifyIndex
	if diff := cmp.Diff(want, got.SchedulerConfig); diff != "" || want.ModifyIndex == 0 {
		t.Errorf("what was set (-want +got):\n%s", diff)
	}
	want.RejectJobRegistration, want.ModifyIndex = true, want.ModifyIndex-1
	if res, _, err := op.SchedulerCASConfiguration(want, nil); err != nil || res.Updated {
		t.Errorf("check-and-set on an older index: %+v, %v; want Updated false", res, err)
	}
	want.ModifyIndex++
	if res, _, err := op.SchedulerCASConfiguration(want, nil); err != nil || !res.Updated {
		t.Errorf("check-and-set: %+v, %v", res, err)
	}
	if _, _, err := f.api.Jobs().Register(foreignJob("late", "x", 1), nil); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("registering while it is rejected: %v", err)
	}
}

func TestForeignClientManagesNodePools(t *testing.T) {
	f := newForeign(t)
	pools := f.api.NodePools()
	spread := nomad.SchedulerAlgorithmSpread
	gpu := &nomad.NodePool{
		Name: "gpu", Description: "cards", Meta: map[string]string{"team": "ml"},
		SchedulerConfiguration: &nomad.NodePoolSchedulerConfiguration{SchedulerAlgorithm: spread, MemoryOversubscriptionEnabled: ptr(true)},
	}
	if _, err := pools.Register(gpu, nil); err != nil {
		t.Fatal(err)
	}
	got, _, err := pools.Info("gpu", nil)
	if err != nil {
		t.Fatal(err)
	}
	gpu.CreateIndex, gpu.ModifyIndex = got.CreateIndex, got.ModifyIndex
	if diff := cmp.Diff(gpu, got); diff != "" {
		t.Errorf("pool (-want +got):\n%s", diff)
	}
	list, _, err := pools.PrefixList("g", nil)
	if err != nil || len(list) != 1 {
		t.Errorf("pools that begin with g: %v, %v", list, err)
	}
	for pool, want := range map[string]int{"all": 1, "default": 1, "gpu": 0} {
		if nodes, _, err := pools.ListNodes(pool, nil); err != nil || len(nodes) != want {
			t.Errorf("nodes of %s: %v, %v; want %d", pool, nodes, err, want)
		}
	}
	job := foreignJob("train", "x", 1)
	job.NodePool = ptr("gpu")
	f.registerJob(job)
	if jobs, _, err := pools.ListJobs("gpu", nil); err != nil || len(jobs) != 1 || jobs[0].ID != "train" {
		t.Errorf("jobs of gpu: %v, %v", jobs, err)
	}
	if _, err := pools.Delete("gpu", nil); err == nil || !strings.Contains(err.Error(), "job train") {
		t.Errorf("deleting a pool in use: %v", err)
	}
	if _, _, err := f.api.Jobs().Deregister("train", true, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := pools.Delete("gpu", nil); err != nil {
		t.Errorf("deleting an empty pool: %v", err)
	}
}
