// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// TestTheBeginningOfAnIDShowsNothingOfOtherNamespaces asks for objects by the beginnings of ids that exist in
// two namespaces.
func TestTheBeginningOfAnIDShowsNothingOfOtherNamespaces(t *testing.T) {
	srv := newIdleServer(t)
	h := &harness{t: t, server: srv.Server}
	var path string // that the node's agent receives
	c := Config{Server: srv.Server, NodeID: func() string { return testNode }, Node: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { path = r.URL.Path })}
	withUsers(t)(&c)
	h.handler = New(c)
	t.Cleanup(h.handler.Close)
	srv.apply(t, &state.RaiseLevel{Level: state.Level})
	srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n", Status: api.NodeStatusReady}})
	for _, o := range []struct{ namespace, alloc, eval, deployment string }{{"secret", "a1", "e1", "d1"}, {"web", "a2", "e2", "d2"}, {"web", "f3", "e4", "d4"}} {
		srv.apply(t, state.PutNamespace(&api.Namespace{Name: o.namespace}, nil))
		job := storedJob("job")
		job.Namespace = o.namespace
		srv.apply(t, &state.RegisterJob{Job: job})
		job = srv.Store().Snapshot().Job(o.namespace, "job")
		srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{
			Job: job, Time: 1, Deployment: &api.Deployment{ID: o.deployment, Namespace: o.namespace, JobID: "job", JobCreateIndex: job.CreateIndex, Status: api.DeploymentRunning, Groups: map[string]*api.DeploymentState{"web": {}}},
			Place: []*api.Allocation{{
				ID: o.alloc, Namespace: o.namespace, JobID: "job", Job: job, NodeID: testNode, Name: api.AllocName("job", "web", 0), Group: "web",
				DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
			}},
		}})
		srv.apply(t, &state.PutEvaluations{Evaluations: []*api.Evaluation{{ID: o.eval, Namespace: o.namespace, JobID: "job", Type: "service", Status: api.EvalStatusPending}}})
	}
	srv.apply(t, state.PutACLPolicy(&api.ACLPolicy{Name: "web", Rules: `namespace "web" { policy = "write" }`}))
	ana, _ := h.user("web")
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "https://s1:4646"+path, strings.NewReader(body))
		r.Header.Set(ana.header[0], ana.header[1])
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, r)
		return w
	}
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string // in the response
	}{
		{"GET", "/v1/allocation/a", "", http.StatusOK, `"a2"`},
		{"GET", "/v1/allocation/b", "", http.StatusNotFound, `allocation "b" not found`},
		{"GET", "/v1/evaluation/e", "", http.StatusBadRequest, "it begins the ids e2, e4"},
		{"GET", "/v1/evaluation/e1x", "", http.StatusNotFound, "not found"},
		{"PUT", "/v1/deployment/promote/d", `{"All": true}`, http.StatusBadRequest, "it begins the ids d2, d4"},
		{"PUT", "/v1/deployment/allocation-health/d2", `{"HealthyAllocationIDs": ["a1"]}`, http.StatusNotFound, `allocation of the deployment "a1" not found`},
		{"PUT", "/v1/deployment/allocation-health/d2", `{"HealthyAllocationIDs": ["q"]}`, http.StatusNotFound, `allocation of the deployment "q" not found`},
		{"GET", "/v1/allocation/a1", "", http.StatusForbidden, "read-job"},
	} {
		got := ask(tc.method, tc.path, tc.body)
		if got.Code != tc.status || !strings.Contains(got.Body.String(), tc.want) || tc.status != http.StatusForbidden && strings.Contains(got.Body.String(), "secret") {
			t.Errorf("%s %s: %d %s, want %d with %s", tc.method, tc.path, got.Code, got.Body, tc.status, tc.want)
		}
	}
	for short, want := range map[string]string{
		"/v1/client/fs/logs/a?task=web":  "/v1/client/fs/logs/a2",
		"/v1/client/fs/ls/f":             "/v1/client/fs/ls/f3", // the path has it before the id
		"/v1/client/allocation/a/checks": "/v1/client/allocation/a2/checks",
	} {
		path = ""
		if got := ask(http.MethodGet, short, ""); got.Code != http.StatusOK || path != want {
			t.Errorf("%s: %d %s, and the node receives %q, want %s", short, got.Code, got.Body, path, want)
		}
	}
}

// TestAFilterSeesOnlyWhatTheListShows guesses what lists leave out, character by character.
func TestAFilterSeesOnlyWhatTheListShows(t *testing.T) {
	h := newHarness(t, withUsers(t))
	job := storedJob("shop")
	job.Meta = map[string]string{"team": "web"}
	job.Groups[0].Tasks[0].Env = map[string]string{"PASSWORD": "hunter2"}
	if _, err := h.server.RegisterJob(t.Context(), &api.RegisterJobRequest{Job: job}); err != nil {
		t.Fatal(err)
	}
	locked, _, err := h.server.AcquireVariableLock(t.Context(), &api.Variable{VariableMetadata: api.VariableMetadata{Namespace: "default", Path: "a/b"}, Items: map[string]string{"a": "b"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.policy("lister", `namespace "default" {
  capabilities = ["list-jobs"]
  variables {
    path "*" { capabilities = ["list"] }
  }
}
operator {
  capabilities = ["keyring-read"]
}`)
	h.policy("writer", `namespace "default" {
  policy = "read"
  variables {
    path "*" { capabilities = ["write"] }
  }
}`)
	lister, _ := h.user("lister")
	writer, _ := h.user("writer")
	for _, tc := range []struct {
		who          peer
		list, filter string
		found        bool
	}{
		{lister, "/v1/jobs", `TaskGroups.0.Tasks.0.Env.PASSWORD matches "^h"`, false},
		{lister, "/v1/jobs", `any TaskGroups as g { any g.Tasks as t { t.Env.PASSWORD matches "^h" } }`, false},
		{lister, "/v1/jobs", `Name == "shop" and Meta.team == "web"`, true},
		{writer, "/v1/jobs", `TaskGroups.0.Tasks.0.Env.PASSWORD matches "^h"`, true},
		{lister, "/v1/vars", `Lock.ID matches "^` + locked.Lock.ID[:1] + `"`, false},
		{lister, "/v1/vars", `VariableMetadata.Lock.ID matches "^` + locked.Lock.ID[:1] + `"`, false},
		{lister, "/v1/vars", `Data is not empty`, false},
		{lister, "/v1/vars", `Path == "a/b" and Lock.TTL != ""`, true},
		{writer, "/v1/vars", `Lock.ID matches "^` + locked.Lock.ID[:1] + `"`, true},
		{lister, "/v1/operator/keyring/keys", `Sealed is not empty`, false},
		{lister, "/v1/operator/keyring/keys", `State == "active"`, true},
	} {
		got := tc.who.ask(t, h.handler, http.MethodGet, tc.list+"?filter="+url.QueryEscape(tc.filter), "")
		if found := got.status == http.StatusOK && strings.Contains(got.body, "{"); found != tc.found {
			t.Errorf("%s with %s: %d %s, want an object: %v", tc.list, tc.filter, got.status, got.body, tc.found)
		}
	}
}
