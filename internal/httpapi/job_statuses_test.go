// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func TestJobStatusesShowAllocationsAndDeployments(t *testing.T) {
	h := newHarness(t)
	ids := h.populate()
	h.register("other")
	h.settle()
	var all []*api.JobOverview
	a := h.get("/v1/jobs/statuses?per_page=1&reverse=true", &all)
	if len(all) != 1 || a.header.Get("X-Nomad-Nexttoken") == "" {
		t.Fatalf("a page of one has %d, and the token %q for the next", len(all), a.header.Get("X-Nomad-Nexttoken"))
	}
	h.get("/v1/jobs/statuses", &all)
	if len(all) != 2 {
		t.Fatalf("got %d jobs, want both", len(all))
	}
	a = h.do(http.MethodPost, "/v1/jobs/statuses", `{"jobs": [{"id": "web", "namespace": "default"}, {"id": "none"}]}`)
	if err := json.Unmarshal([]byte(a.body), &all); err != nil || len(all) != 1 || a.header.Get("X-Nomad-Index") == "" {
		t.Fatalf("asking for one and for none: %d %s, %v", a.status, a.body, err)
	}
	web := all[0]
	if web.ID != "web" || web.GroupCountSum != 1 || len(web.Allocs) != 1 || web.Allocs[0].ID != ids["ALLOC"] || web.Allocs[0].NodeID != ids["NODE"] ||
		web.LatestDeployment == nil || !web.LatestDeployment.IsActive || web.ChildStatuses != nil {
		t.Errorf("the job is shown as %s", a.body)
	}
}

func TestJobStatusesCountInstancesThatMayReceiveTraffic(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	job := storedJob("web")
	job.Groups[0].Count = ptr(3)
	srv.apply(t, &state.RegisterNode{Node: topologyNode("n", "dc1", "large")}, &state.RegisterJob{Job: job})
	job = srv.Store().Snapshot().Job("default", "web")
	p := &state.Placement{Job: job, Time: 1}
	for i, letter := range []string{"a", "b", "c"} {
		a := placed(job, idOf(letter), "n")
		a.Name = api.AllocName("web", "web", i)
		p.Place = append(p.Place, a)
	}
	srv.apply(t, &state.CommitPlacement{Placement: p})
	check := func(when string, want int) {
		t.Helper()
		var overviews []*api.JobOverview
		a := request(h, http.MethodGet, "/v1/jobs/statuses", "")
		if err := json.Unmarshal([]byte(a.body), &overviews); err != nil || len(overviews) != 1 {
			t.Fatalf("%s: %d %s, %v", when, a.status, a.body, err)
		}
		var instances []*api.Instance
		listed := request(h, http.MethodGet, "/v1/instances", "")
		if err := json.Unmarshal([]byte(listed.body), &instances); err != nil {
			t.Fatalf("%s: %d %s, %v", when, listed.status, listed.body, err)
		}
		routable := 0
		for _, in := range instances {
			if in.Routable {
				routable++
			}
		}
		if got := overviews[0].Routable; got != want || routable != want {
			t.Errorf("%s: the job counts %d routable instances, the list of instances has %d, want %d", when, got, routable, want)
		}
	}
	check("none has started", 0)
	srv.ready(t, idOf("a"), "default", true)
	srv.ready(t, idOf("b"), "default", true)
	check("two are ready", 2)
	srv.ready(t, idOf("b"), "default", false)
	check("one fails its readiness check", 1)
	srv.apply(t, &state.UpdateAllocations{NodeID: "n", Time: 4, Allocations: []*api.Allocation{{ID: idOf("a"), NodeID: "n", ClientStatus: api.AllocClientFailed}}})
	check("the other one failed", 0)
	srv.apply(t, &state.UpdateAllocations{NodeID: "n", Time: 5, Allocations: []*api.Allocation{{ID: idOf("c"), NodeID: "n", ClientStatus: api.AllocClientRunning}}})
	check("the third one runs, and its agent does not report whether it serves", 1)
}

// BenchmarkJobStatuses reads 8,000 jobs with 100,000 allocations: all, and a page of a hundred.
func BenchmarkJobStatuses(b *testing.B) {
	srv := newIdleServer(b)
	apply := applier(b, srv.Store())
	apply(&state.RegisterNode{Node: topologyNode(testNode, "dc1", "large")})
	for j := range 8_000 {
		id := fmt.Sprintf("job-%04d", j)
		apply(&state.RegisterJob{Job: storedJob(id)})
		job := srv.Store().Snapshot().Job("default", id)
		p, reports := &state.Placement{Job: job, Time: 1}, &state.UpdateAllocations{NodeID: testNode, Time: 2}
		for i := range 12 + j%2 {
			a := placed(job, api.NewID(), testNode)
			a.Name = api.AllocName(id, "web", i)
			p.Place = append(p.Place, a)
			reports.Allocations = append(reports.Allocations, &api.Allocation{
				ID: a.ID, NodeID: testNode, ClientStatus: api.AllocClientRunning, Serving: &api.Serving{Up: true, Routable: i > 0, Since: 1},
			})
		}
		apply(&state.CommitPlacement{Placement: p}, reports)
	}
	h := New(Config{Server: srv.Server})
	for _, query := range []string{"", "per_page=100"} {
		b.Run(query, func(b *testing.B) { benchmarkAnswer(b, h, "/v1/jobs/statuses?"+query) })
	}
}
