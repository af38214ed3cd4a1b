// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reeve-run/reeve/api"
)

func poolNames(v *Snapshot) []string {
	var names []string
	for p := range v.NodePools() {
		names = append(names, p.Name)
	}
	return names
}

func TestANewClusterHasDefaults(t *testing.T) {
	v := New().Snapshot()
	if diff := cmp.Diff(api.DefaultSchedulerConfig(), v.SchedulerConfig()); diff != "" {
		t.Errorf("scheduler's configuration (-default +new):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"all", "default"}, poolNames(v)); diff != "" {
		t.Errorf("node pools (-want +got):\n%s", diff)
	}
	if v.NodePool("default") == nil || v.NodePool("gpu") != nil {
		t.Errorf("NodePool(default) = %v, NodePool(gpu) = %v", v.NodePool("default"), v.NodePool("gpu"))
	}
}

func TestSetSchedulerConfigChecksTheIndex(t *testing.T) {
	s := New()
	set := func(index uint64, algorithm string, enforce *uint64) error {
		config := api.DefaultSchedulerConfig()
		config.Algorithm = algorithm
		return s.Apply(index, []Command{&SetSchedulerConfig{Config: config, EnforceIndex: enforce}})[0]
	}
	for _, step := range []struct {
		index     uint64
		algorithm string
		enforce   *uint64
		conflict  bool
	}{
		{1, api.AlgorithmSpread, ptr(uint64(9)), true},
		{2, api.AlgorithmSpread, ptr(uint64(0)), false},
		{3, api.AlgorithmBinpack, ptr(uint64(0)), true},
		{4, api.AlgorithmBinpack, ptr(uint64(2)), false},
		{5, api.AlgorithmSpread, nil, false},
	} {
		before := s.Snapshot().SchedulerConfig()
		err := set(step.index, step.algorithm, step.enforce)
		if got := api.CodeOf(err) == api.CodeConflict; got != step.conflict {
			t.Fatalf("entry %d: %v, want a conflict: %v", step.index, err, step.conflict)
		}
		after := s.Snapshot().SchedulerConfig()
		if step.conflict {
			if !cmp.Equal(before, after) {
				t.Errorf("entry %d was refused and changed the configuration", step.index)
			}
			continue
		}
		want := api.DefaultSchedulerConfig()
		want.Algorithm, want.CreateIndex, want.ModifyIndex = step.algorithm, 2, step.index
		if diff := cmp.Diff(want, after); diff != "" {
			t.Errorf("entry %d (-want +got):\n%s", step.index, diff)
		}
		if got := s.Snapshot().TableIndex(TableSchedulerConfig); got != step.index {
			t.Errorf("entry %d: the table's index is %d", step.index, got)
		}
	}
}

func TestANodeMakesThePoolItNames(t *testing.T) {
	s := New()
	must(t, s.Apply(3, []Command{
		&RegisterNode{Node: &api.Node{ID: "a", NodePool: "gpu"}},
		&RegisterNode{Node: &api.Node{ID: "b", NodePool: "gpu"}},
		&RegisterNode{Node: &api.Node{ID: "c", NodePool: api.NodePoolDefault}},
	}))
	want := &api.NodePool{Name: "gpu", CreateIndex: 3, ModifyIndex: 3}
	if diff := cmp.Diff(want, s.Snapshot().NodePool("gpu")); diff != "" {
		t.Errorf("pool (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"all", "default", "gpu"}, poolNames(s.Snapshot())); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
}

func TestAPoolInUseIsNotDeleted(t *testing.T) {
	s := New()
	job := testJob("train")
	job.NodePool = "gpu"
	must(t, s.Apply(1, []Command{
		&PutNodePool{&api.NodePool{Name: "gpu", Description: "cards"}},
		&PutNodePool{&api.NodePool{Name: "edge"}},
		&RegisterNode{Node: &api.Node{ID: "aaaaaaaa-0000-4000-8000-000000000001", NodePool: "gpu"}},
		&RegisterJob{Job: job},
	}))
	for i, step := range []struct {
		command Command
		want    string // "" is done
	}{
		{&DeleteNodePool{"gpu"}, "has node aaaaaaaa"},
		{&DeleteNode{IDs: []string{"aaaaaaaa-0000-4000-8000-000000000001"}}, ""},
		{&DeleteNodePool{"gpu"}, "has job train"},
		{&DeregisterJob{Namespace: "default", ID: "train"}, ""},
		{&DeleteNodePool{"gpu"}, ""},
		{&DeleteNodePool{"gpu"}, "not found"},
		{&DeleteNodePool{"default"}, "built in"},
		{&PutNodePool{&api.NodePool{Name: "all"}}, "built in"},
		{&DeleteNodePool{"edge"}, ""},
	} {
		err := s.Apply(uint64(i+2), []Command{step.command})[0]
		if step.want == "" && err != nil || step.want != "" && (err == nil || !strings.Contains(err.Error(), step.want)) {
			t.Errorf("step %d, %s: %v, want %q", i, step.command.Name(), err, step.want)
		}
	}
	if diff := cmp.Diff([]string{"all", "default"}, poolNames(s.Snapshot())); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
}

func TestChangesOfTheClusterAreFed(t *testing.T) {
	s := New()
	u := s.Subscribe()
	defer u.Close()
	before := s.Snapshot()
	must(t, s.Apply(1, []Command{
		&SetSchedulerConfig{Config: &api.SchedulerConfig{PauseEvalBroker: true}},
		&PutNodePool{&api.NodePool{Name: "gpu"}},
		&PutNodePool{&api.NodePool{Name: "gpu", Description: "cards"}},
		&DeleteNodePool{"gpu"},
	}))
	batch, err := u.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config := &api.SchedulerConfig{PauseEvalBroker: true, CreateIndex: 1, ModifyIndex: 1}
	plain := &api.NodePool{Name: "gpu", CreateIndex: 1, ModifyIndex: 1}
	described := &api.NodePool{Name: "gpu", Description: "cards", CreateIndex: 1, ModifyIndex: 1}
	want := []Change{
		{TableSchedulerConfig, Put, api.DefaultSchedulerConfig(), config, "SetSchedulerConfig"},
		{TableNodePools, Put, nil, plain, "PutNodePool"},
		{TableNodePools, Put, plain, described, "PutNodePool"},
		{TableNodePools, Delete, described, nil, "DeleteNodePool"},
	}
	if diff := cmp.Diff(want, batch.Changes, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if names := poolNames(before); !slices.Equal(names, []string{"all", "default"}) || before.SchedulerConfig().PauseEvalBroker {
		t.Errorf("a snapshot taken before changed: pools %v", names)
	}
}
