// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

const schedulerRoute = "/v1/operator/scheduler/configuration"

func TestSchedulerConfiguration(t *testing.T) {
	h := newHarness(t)
	var got api.SchedulerConfigResponse
	h.get(schedulerRoute, &got)
	if diff := cmp.Diff(api.DefaultSchedulerConfig(), got.SchedulerConfig); diff != "" {
		t.Errorf("a new cluster's (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		path, body string
		want       string // in the answer
		status     int
	}{
		{schedulerRoute + "?cas=7", `{"SchedulerAlgorithm": "spread"}`, `"Updated":false`, 200},
		{schedulerRoute + "?cas=0", `{"SchedulerAlgorithm": "spread", "ZoneAttribute": "${meta.zone}", "MaxStartingPerNode": 4}`, `"Updated":true`, 200},
		{schedulerRoute, `{"SchedulerAlgorithm": "best"}`, `SchedulerAlgorithm: "best" is neither`, 400},
		{schedulerRoute, `{"ZoneAttribute": "zone"}`, `ZoneAttribute: "zone" is not an attribute`, 400},
		{schedulerRoute, `{"ZoneAttribute": "${zone}"}`, `is not an attribute`, 400},
		{schedulerRoute, `{"MaxStartingPerNode": -1}`, `MaxStartingPerNode: -1 is negative`, 400},
		{schedulerRoute, `{"Rejections": {"MarkIneligible": true}}`, `needs a NodeThreshold`, 400},
		// What only Reeve has stays when it is left out.
		{schedulerRoute, `{"SchedulerAlgorithm": "binpack", "PreemptionConfig": {"ServiceSchedulerEnabled": true}}`, `"Updated":true`, 200},
	} {
		a := h.do(http.MethodPut, c.path, c.body)
		if a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("PUT %s %s: %d %s, want %d with %s", c.path, c.body, a.status, a.body, c.status, c.want)
		}
	}
	h.get(schedulerRoute, &got)
	want := api.DefaultSchedulerConfig()
	want.Preemption = api.PreemptionConfig{ServiceSchedulerEnabled: true}
	want.ZoneAttribute, want.MaxStartingPerNode = "${meta.zone}", 4
	want.CreateIndex, want.ModifyIndex = got.SchedulerConfig.CreateIndex, got.Index
	if diff := cmp.Diff(want, got.SchedulerConfig); diff != "" || want.CreateIndex == 0 {
		t.Errorf("afterwards (-want +got):\n%s", diff)
	}
}

func TestRejectedRegistration(t *testing.T) {
	h := newHarness(t)
	h.register("web")
	config := api.DefaultSchedulerConfig()
	config.RejectJobRegistration = true
	if _, err := h.client.Operator().SetSchedulerConfig(t.Context(), config, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"/v1/jobs", samples["PUT /v1/jobs"]},
		{"/v1/job/web/scale", samples["PUT /v1/job/{id}/scale"]},
		{"/v1/job/web/revert", samples["PUT /v1/job/{id}/revert"]},
	} {
		if a := h.do(http.MethodPut, c[0], c[1]); a.status != http.StatusForbidden || !strings.Contains(a.body, "RejectJobRegistration") {
			t.Errorf("PUT %s: %d %s, want 403 that names the setting", c[0], a.status, a.body)
		}
	}
	if a := h.do(http.MethodDelete, "/v1/job/web", ""); a.status != http.StatusOK {
		t.Errorf("DELETE /v1/job/web: %d %s; stopping is always allowed", a.status, a.body)
	}
}

func TestNodePools(t *testing.T) {
	h := newHarness(t)
	pools, jobs := h.client.NodePools(), h.client.Jobs()
	job := testJob("train")
	job.NodePool = "gpu"
	_, err := jobs.Register(t.Context(), &api.RegisterJobRequest{Job: job})
	if api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), `no node pool "gpu"; there are "all", "default"`) {
		t.Errorf("a job in an unknown pool: %v", err)
	}
	for _, c := range []struct{ path, body, want string }{
		{"/v1/node/pools", `{"Name": "g p u"}`, "must be of letters"},
		{"/v1/node/pools", `{"Name": "default"}`, "built in"},
		{"/v1/node/pools", `{}`, "Name is missing"},
		{"/v1/node/pool/gpu", `{"Name": "cpu"}`, "the one in the path"},
		{"/v1/node/pools", `{"Name": "gpu", "SchedulerConfiguration": {"SchedulerAlgorithm": "best"}}`, "SchedulerAlgorithm"},
	} {
		if a := h.do(http.MethodPut, c.path, c.body); a.status != http.StatusBadRequest || !strings.Contains(a.body, c.want) {
			t.Errorf("PUT %s %s: %d %s, want 400 with %q", c.path, c.body, a.status, a.body, c.want)
		}
	}
	pool := &api.NodePool{Name: "gpu", Description: "cards", Meta: map[string]string{"team": "ml"}, SchedulerConfig: &api.NodePoolSchedulerConfig{Algorithm: api.AlgorithmSpread}}
	if _, err := pools.Put(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	if _, err := jobs.Register(t.Context(), &api.RegisterJobRequest{Job: job}); err != nil {
		t.Fatal(err)
	}
	for id, in := range map[string]string{testNode: "gpu", unknownID: "edge"} {
		if _, err := h.client.Nodes().Register(t.Context(), &api.Node{ID: id, Name: in, NodePool: in}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.client.Nodes().Register(t.Context(), &api.Node{ID: api.NewID(), Name: "n", NodePool: "all"}); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("a node that names the pool of all nodes: %v", err)
	}

	stored, _, err := pools.Get(t.Context(), "gpu", nil)
	if err != nil {
		t.Fatal(err)
	}
	pool.CreateIndex, pool.ModifyIndex = stored.CreateIndex, stored.ModifyIndex
	if diff := cmp.Diff(pool, stored); diff != "" {
		t.Errorf("pool (-want +got):\n%s", diff)
	}
	names := func(list []*api.NodePool) (names []string) {
		for _, p := range list {
			names = append(names, p.Name)
		}
		return names
	}
	list, _, err := pools.List(t.Context(), nil)
	if diff := cmp.Diff([]string{"all", "default", "edge", "gpu"}, names(list)); diff != "" || err != nil {
		t.Errorf("pools: %v (-want +got):\n%s", err, diff)
	}
	for pool, want := range map[string][2]int{"all": {2, 0}, "default": {0, 0}, "gpu": {1, 1}, "edge": {1, 0}} {
		nodes, _, err := pools.Nodes(t.Context(), pool, nil)
		if err != nil {
			t.Fatal(err)
		}
		jobs, _, err := pools.Jobs(t.Context(), pool, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{len(nodes), len(jobs)}; got != want {
			t.Errorf("pool %s has %d nodes and jobs, want %d", pool, got, want)
		}
	}
	if _, err := pools.Delete(t.Context(), "gpu"); api.CodeOf(err) != api.CodeConflict {
		t.Errorf("deleting a pool in use: %v", err)
	}
	if a := h.do(http.MethodGet, "/v1/node/pool/none", ""); a.status != http.StatusNotFound {
		t.Errorf("GET of an unknown pool: %d %s", a.status, a.body)
	}
}
