// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// restartingCore keeps restarts, and writes down what is to become of them.
type restartingCore struct {
	*fakeCore
	asked string
}

func (r *restartingCore) StartRestart(_ context.Context, namespace, id string, req *api.JobRestartRequest) (*api.JobRestart, error) {
	r.asked = fmt.Sprintf("restart %s by %d", id, req.BatchSize)
	return &api.JobRestart{ID: "r", JobID: id, Status: api.RestartRunning, ModifyIndex: 42}, nil
}

func (r *restartingCore) ChangeRestart(_ context.Context, id, status string, req *api.JobRestartVerbRequest) (*api.JobRestart, error) {
	r.asked = fmt.Sprintf("%s %s by %q because %q", status, id, req.By, req.Reason)
	return &api.JobRestart{ID: id, Status: status, ModifyIndex: 42}, nil
}

const (
	firstRestart  = "aaaaaaaa-0000-0000-0000-000000000001"
	secondRestart = "aaaabbbb-0000-0000-0000-000000000002"
	otherRestart  = "cccccccc-0000-0000-0000-000000000003"
)

func newRestartingCore(t *testing.T) *restartingCore {
	t.Helper()
	core := &restartingCore{fakeCore: newFakeCore()}
	for _, r := range []struct{ id, job, status string }{
		{firstRestart, "web", api.RestartComplete}, {secondRestart, "web", api.RestartRunning}, {otherRestart, "a/b", api.RestartRunning},
	} {
		if core.store.Snapshot().Job("default", r.job) == nil {
			core.apply(t, &state.RegisterJob{Job: storedJob(r.job)})
		}
		job := core.store.Snapshot().Job("default", r.job)
		core.apply(t, &state.PutRestart{Restart: &api.JobRestart{
			ID: r.id, Namespace: "default", JobID: r.job, JobCreateIndex: job.CreateIndex, Status: r.status, BatchSize: 1,
		}})
	}
	return core
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
	h := New(Config{Server: newRestartingCore(t)})
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
	h := New(Config{Server: newRestartingCore(t)})
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
	core := newRestartingCore(t)
	h := New(Config{Server: core})
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/v1/job/web/restart", `{"BatchSize": 3}`, "restart web by 3"},
		{"PUT", "/v1/job/a/b/restart", "", "restart a/b by 0"},
		{"POST", "/v1/job/web/restart/aaaab/pause", "", `paused ` + secondRestart + ` by "" because ""`},
		{"POST", "/v1/job/web/restart/aaaab/resume", `{"By": "ann"}`, `running ` + secondRestart + ` by "ann" because ""`},
		{"DELETE", "/v1/job/a/b/restart/" + otherRestart, `{"By": "ann", "Reason": "no more"}`, `cancelled ` + otherRestart + ` by "ann" because "no more"`},
		{"DELETE", "/v1/job/a/b/restart/cc?reason=enough", "", `cancelled ` + otherRestart + ` by "" because "enough"`},
	} {
		core.asked = ""
		a := request(h, c.method, c.path, c.body)
		if a.status != http.StatusOK || core.asked != c.want || a.header.Get("X-Nomad-Index") != "42" {
			t.Errorf("%s %s: %d %s at %s, and asked to %s; want %s", c.method, c.path, a.status, a.body, a.header.Get("X-Nomad-Index"), core.asked, c.want)
		}
	}
	core.asked = ""
	for path, want := range map[string]int{
		"/v1/job/web/restart/cc/pause": http.StatusNotFound, "/v1/job/web/restart/aaaa/pause": http.StatusBadRequest,
	} {
		if a := request(h, http.MethodPut, path, ""); a.status != want || core.asked != "" {
			t.Errorf("PUT %s: %d %s, and asked to %s; want %d", path, a.status, a.body, core.asked, want)
		}
	}
}

func TestDecisionsAreListed(t *testing.T) {
	core := newFakeCore()
	h := New(Config{Server: core})
	core.apply(t, &state.RegisterJob{Job: storedJob("a/b")})
	for _, verb := range []api.Verb{api.VerbInterrupt, api.VerbContinue} {
		core.decide(t, "a/b", verb)
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
