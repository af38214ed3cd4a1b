// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/state"
)

func TestPolicyIsTheClustersUnlessThePoolSaysOtherwise(t *testing.T) {
	store := state.New()
	yes := true
	store.Apply(1, []state.Command{
		&state.SetSchedulerConfig{Config: &api.SchedulerConfig{
			Algorithm: api.AlgorithmSpread, ZoneAttribute: "${meta.zone}", MaxStartingPerNode: 4,
			Preemption: api.PreemptionConfig{SystemSchedulerEnabled: true},
		}},
		&state.PutNodePool{Pool: &api.NodePool{Name: "plain"}},
		&state.PutNodePool{Pool: &api.NodePool{Name: "gpu", SchedulerConfig: &api.NodePoolSchedulerConfig{
			Algorithm: api.AlgorithmBinpack, MemoryOversubscriptionEnabled: &yes,
		}}},
	})
	cluster := placement.Policy{Algorithm: api.AlgorithmSpread, ZoneAttribute: "${meta.zone}", MaxStarting: 4}
	pool := cluster
	pool.Algorithm, pool.MemoryOversubscription = api.AlgorithmBinpack, true
	for _, c := range []struct {
		name     string
		job      *api.Job
		want     placement.Policy
		preempts bool
	}{
		{"a purged job", nil, cluster, false},
		{"a service in the default pool", &api.Job{Type: api.JobTypeService, NodePool: "default"}, cluster, false},
		{"a system job in a pool without settings", &api.Job{Type: api.JobTypeSystem, NodePool: "plain"}, cluster, true},
		{"a batch job in a pool with settings", &api.Job{Type: api.JobTypeBatch, NodePool: "gpu"}, pool, false},
		{"a service in a pool that is gone", &api.Job{Type: api.JobTypeService, NodePool: "gone"}, cluster, false},
	} {
		got := Policy(store.Snapshot(), c.job)
		if preempts := got.Held != nil; preempts != c.preempts {
			t.Errorf("%s: preempts is %v, want %v", c.name, preempts, c.preempts)
		}
		got.Held = nil
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
