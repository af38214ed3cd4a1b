// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

const (
	firstRestart  = "aaaaaaaa-0000-0000-0000-000000000001"
	secondRestart = "aaaabbbb-0000-0000-0000-000000000002"
	otherRestart  = "cccccccc-0000-0000-0000-000000000003"
)

// newServerWithRestarts returns a server with restarts of two jobs that run.
func newServerWithRestarts(t *testing.T) *idleServer {
	t.Helper()
	srv := newIdleServer(t)
	for _, r := range []struct{ id, job, status string }{
		{firstRestart, "web", api.RestartComplete}, {secondRestart, "web", api.RestartRunning}, {otherRestart, "a/b", api.RestartRunning},
	} {
		if srv.Store().Snapshot().Job("default", r.job) == nil {
			srv.apply(t, &state.RegisterJob{Job: storedJob(r.job)})
		}
		job := srv.Store().Snapshot().Job("default", r.job)
		srv.apply(t, &state.PutRestart{Restart: &api.JobRestart{
			ID: r.id, Namespace: "default", JobID: r.job, JobCreateIndex: job.CreateIndex, Status: r.status, BatchSize: 1,
		}})
	}
	return srv
}

// run places an allocation of a job on a node that reports it with a status.
func (s *idleServer) run(t *testing.T, id, status string) {
	t.Helper()
	s.apply(t, &state.RegisterNode{Node: &api.Node{ID: "n", Name: "n", Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible}})
	job := s.Store().Snapshot().Job("default", id)
	a := &api.Allocation{
		ID: api.NewID(), Namespace: "default", JobID: id, Job: job, NodeID: "n", Name: api.AllocName(id, "web", 0), Group: "web",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
	}
	s.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: []*api.Allocation{a}}})
	s.apply(t, &state.UpdateAllocations{NodeID: "n", Time: 2, Allocations: []*api.Allocation{{ID: a.ID, NodeID: "n", ClientStatus: status}}})
}

// ids are those of an answer's restarts.
func restartIDs(t *testing.T, a answer) []string {
	t.Helper()
	var restarts []*api.JobRestart
	if err := json.Unmarshal([]byte(a.body), &restarts); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	ids := make([]string, len(restarts))
	for i, r := range restarts {
		ids[i] = r.ID
	}
	return ids
}

func TestRestartsAreListed(t *testing.T) {
	h := New(Config{Server: newServerWithRestarts(t).Server})
	for path, want := range map[string][]string{
		"/v1/restarts":                             {firstRestart, secondRestart, otherRestart},
		"/v1/restarts?prefix=aaaa":                 {firstRestart, secondRestart},
		"/v1/restarts?job=a/b":                     {otherRestart},
		"/v1/restarts?status=running&reverse":      {otherRestart, secondRestart},
		"/v1/restarts?per_page=1":                  {firstRestart},
		"/v1/job/web/restarts":                     {secondRestart, firstRestart},
		"/v1/job/a/b/restarts":                     {otherRestart},
		"/v1/job/none/restarts":                    {},
		"/v1/restarts?filter=JobID+%3D%3D+%22x%22": {},
	} {
		if diff := cmp.Diff(want, restartIDs(t, request(h, http.MethodGet, path, ""))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestOneRestart(t *testing.T) {
	h := New(Config{Server: newServerWithRestarts(t).Server})
	for path, want := range map[string]string{
		"/v1/restart/" + firstRestart:         `"ID":"` + firstRestart,
		"/v1/restart/c":                       `"ID":"` + otherRestart,
		"/v1/restart/aaaa":                    `restart "aaaa" is ambiguous: it begins the ids ` + firstRestart + ", " + secondRestart,
		"/v1/restart/dd":                      `restart "dd" not found`,
		"/v1/job/web/restart/aaaab":           `"ID":"` + secondRestart,
		"/v1/job/web/restart/c":               `restart "c" not found`,
		"/v1/job/web/restart/" + otherRestart: `restart "` + otherRestart + `" not found`,
		"/v1/job/a/b/restart/c":               `"ID":"` + otherRestart,
	} {
		if a := request(h, http.MethodGet, path, ""); !strings.Contains(a.body, want) {
			t.Errorf("%s: got %d %s, want %s", path, a.status, a.body, want)
		}
	}
}

func TestRestartsAreStartedAndChanged(t *testing.T) {
	srv := newServerWithRestarts(t)
	h := New(Config{Server: srv.Server})
	for _, id := range []string{"web", "a/b"} { // restarts need an instance that runs
		srv.run(t, id, api.AllocClientRunning)
	}
	// change sends a request and returns the restart that it was about, as stored.
	change := func(method, path, body string) string {
		a := request(h, method, path, body)
		var r *api.JobRestart
		if err := json.Unmarshal([]byte(a.body), &r); err != nil || a.status != http.StatusOK {
			t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
			return ""
		}
		stored := srv.Store().Snapshot().Restart(r.ID)
		if diff := cmp.Diff(stored, r); diff != "" {
			t.Errorf("%s %s: the answer is not as stored (-stored +got):\n%s", method, path, diff)
		}
		if got, want := a.header.Get("X-Nomad-Index"), fmt.Sprint(stored.ModifyIndex); got != want || stored.ModifyIndex != srv.Store().Index() {
			t.Errorf("%s %s: index %s, want that of the change, %s", method, path, got, want)
		}
		return fmt.Sprintf("%s %s by %d, %s: %s", stored.JobID, strings.Trim(stored.ID[:8], "0"), stored.BatchSize, stored.Status, stored.StatusDescription)
	}
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/v1/job/web/restart/aaaab/pause", "", "web aaaabbbb by 1, paused: paused by unknown"},
		{"POST", "/v1/job/web/restart/aaaab/resume", `{"By": "ann"}`, "web aaaabbbb by 1, running: resumed by ann"},
		{"DELETE", "/v1/job/web/restart/aaaab?reason=enough", "", "web aaaabbbb by 1, cancelled: cancelled by unknown (enough)"},
		{"DELETE", "/v1/job/a/b/restart/" + otherRestart, `{"By": "ann", "Reason": "no more"}`, "a/b cccccccc by 1, cancelled: cancelled by ann (no more)"},
	} {
		if got := change(c.method, c.path, c.body); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, got, c.want)
		}
	}
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/v1/job/web/restart", `{"BatchSize": 3}`, "web by 3, running"}, {"PUT", "/v1/job/a/b/restart", "", "a/b by 1, running"},
	} {
		job, rest, _ := strings.Cut(change(c.method, c.path, c.body), " ")
		_, rest, _ = strings.Cut(rest, " ")
		if got := job + " " + rest; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s: started %s, want %s", c.method, c.path, got, c.want)
		}
	}
	index := srv.Store().Index()
	for path, want := range map[string]int{
		"/v1/job/web/restart/cccccccc/pause": http.StatusNotFound, "/v1/job/web/restart/aaaa/pause": http.StatusBadRequest,
	} {
		if a := request(h, http.MethodPut, path, ""); a.status != want || srv.Store().Index() != index {
			t.Errorf("PUT %s: %d %s; want %d, and no change", path, a.status, a.body, want)
		}
	}
}

func TestDecisionsAreListed(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	srv.apply(t, &state.RegisterJob{Job: storedJob("a/b")})
	for _, verb := range []api.Verb{api.VerbInterrupt, api.VerbContinue} {
		srv.decide(t, "a/b", verb)
	}
	a := request(h, http.MethodGet, "/v1/job/a/b/decisions", "")
	var decisions []*api.Decision
	if err := json.Unmarshal([]byte(a.body), &decisions); err != nil || len(decisions) != 2 {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	if decisions[0].Verb != api.VerbInterrupt || decisions[1].Verb != api.VerbContinue || decisions[0].By != "ann" {
		t.Errorf("the decisions are %s", a.body)
	}
	if a := request(h, http.MethodGet, "/v1/job/none/decisions", ""); a.status != http.StatusNotFound {
		t.Errorf("of no job: %d %s", a.status, a.body)
	}
}
