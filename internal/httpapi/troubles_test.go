// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func TestTroublesAreAskedFor(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: "n", Name: "n", Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible}})
	for version := range 2 { // version 0 crashes at web-0, and version 1 at web-1
		job := storedJob("web")
		job.Priority, *job.Groups[0].Count = 50+version, 2
		srv.apply(t, &state.RegisterJob{Job: job})
		job = srv.Store().Snapshot().Job("default", "web")
		a := &api.Allocation{
			ID: api.NewID(), Namespace: "default", JobID: "web", Job: job, NodeID: "n", Name: api.AllocName("web", "web", version), Group: "web",
			DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
		}
		srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: []*api.Allocation{a}}})
		srv.apply(t, &state.UpdateAllocations{NodeID: "n", Time: 2, Allocations: []*api.Allocation{{
			ID: a.ID, NodeID: "n", ClientStatus: api.AllocClientRunning,
			Serving: &api.Serving{}, Crashes: &api.Crashes{Count: 1, Total: 1, Reason: "exited with status 17", At: 2},
		}}})
	}
	for query, want := range map[string]string{
		"":                            "exited web-0 v0, exited web-1 v1",
		"?instance=web-1":             "exited web-1 v1",
		"?version=0":                  "exited web-0 v0",
		"?version=1&instance=web%2D1": "exited web-1 v1",
		"?version=1&instance=web-0":   "",
		"?instance=web%400":           "",
	} {
		a := request(h, http.MethodGet, "/v1/job/web/troubles"+query, "")
		var troubles []*api.Trouble
		if err := json.Unmarshal([]byte(a.body), &troubles); err != nil || a.status != http.StatusOK || troubles == nil {
			t.Errorf("%s: %d %q, want a list: %v", query, a.status, a.body, err)
		}
		var got []string
		for _, tr := range troubles {
			got = append(got, fmt.Sprintf("%s %s v%d", tr.Kind, tr.Instance, tr.JobVersion))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s lists %s, want %s", query, got, want)
		}
		if a.header.Get("X-Reeve-Index") == "" {
			t.Errorf("%s: no index to block on", query)
		}
	}
	if a := request(h, http.MethodGet, "/v1/job/web/troubles?version=one", ""); a.status != http.StatusBadRequest {
		t.Errorf("a version that is no number: %d %s", a.status, a.body)
	}
}
