// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// listIDs gets a list and returns its ids, and the next token.
func listIDs(t *testing.T, h *Handler, path string) ([]string, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	var objects []struct{ ID string }
	if err := json.Unmarshal(w.Body.Bytes(), &objects); err != nil {
		t.Fatalf("GET %s: %v in %s", path, err, w.Body)
	}
	ids := []string{}
	for _, o := range objects {
		ids = append(ids, o.ID)
	}
	return ids, w.Header().Get("X-Nomad-NextToken")
}

// pages walks a list page by page.
func pages(t *testing.T, h *Handler, path string) [][]string {
	t.Helper()
	var all [][]string
	token := ""
	for range 100 {
		ids, next := listIDs(t, h, path+"&next_token="+url.QueryEscape(token))
		all = append(all, ids)
		if next == "" {
			return all
		}
		token = next
	}
	t.Fatalf("GET %s: the pages do not end", path)
	return nil
}

func TestPagesOfLists(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	for i, id := range []string{"e", "b", "d", "a", "c"} {
		job := storedJob(id)
		srv.apply(t, &state.RegisterJob{Job: job, Evaluation: &api.Evaluation{
			ID: fmt.Sprintf("%d%s", 9-i, id), Namespace: job.Namespace, JobID: id, Status: api.EvalStatusComplete, Priority: 10 * i,
		}})
	}
	for path, want := range map[string][][]string{
		"/v1/jobs?x":                         {{"a", "b", "c", "d", "e"}},
		"/v1/jobs?per_page=2":                {{"a", "b"}, {"c", "d"}, {"e"}},
		"/v1/jobs?per_page=5":                {{"a", "b", "c", "d", "e"}},
		"/v1/jobs?per_page=2&reverse":        {{"e", "d"}, {"c", "b"}, {"a"}},
		"/v1/jobs?reverse=true":              {{"e", "d", "c", "b", "a"}},
		"/v1/jobs?prefix=c":                  {{"c"}},
		"/v1/jobs?prefix=z":                  {{}},
		"/v1/evaluations?x":                  {{"9e", "8b", "7d", "6a", "5c"}},
		"/v1/evaluations?per_page=2":         {{"9e", "8b"}, {"7d", "6a"}, {"5c"}},
		"/v1/evaluations?per_page=1&reverse": {{"5c"}, {"6a"}, {"7d"}, {"8b"}, {"9e"}},
		"/v1/evaluations?job=d":              {{"7d"}},
		"/v1/evaluations?status=blocked":     {{}},
		"/v1/evaluations?filter=" + url.QueryEscape(`Priority == 20 or JobID == "e"`):  {{"9e", "7d"}},
		"/v1/evaluations?per_page=1&filter=" + url.QueryEscape(`JobID matches "[ab]"`): {{"8b"}, {"6a"}},
		"/v1/jobs?filter=" + url.QueryEscape(`Meta.team == "web"`):                     {{"a", "b", "c", "d", "e"}},
		"/v1/jobs?filter=" + url.QueryEscape(`Meta.region == "eu"`):                    {{}},
		"/v1/jobs?filter=" + url.QueryEscape(`TaskGroups is empty`):                    {{}},
		"/v1/jobs?filter=" + url.QueryEscape(`Periodic.Enabled == true`):               {{}},
	} {
		if diff := cmp.Diff(want, pages(t, h, path)); diff != "" {
			t.Errorf("GET %s (-want +got):\n%s", path, diff)
		}
	}
}

func TestShortIDs(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	for _, id := range []string{"aaaa1111", "aaaa2222", "bbbb3333"} {
		srv.apply(t, &state.PutEvaluations{Evaluations: []*api.Evaluation{{ID: id, Namespace: "default", JobID: "web", Status: api.EvalStatusComplete}}})
	}
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/v1/evaluation/bb":       {http.StatusOK, `"ID":"bbbb3333"`},
		"/v1/evaluation/aaaa1111": {http.StatusOK, `"ID":"aaaa1111"`},
		"/v1/evaluation/aaaa":     {http.StatusBadRequest, `evaluation "aaaa" is ambiguous: it begins the ids aaaa1111, aaaa2222`},
		"/v1/evaluation/cc":       {http.StatusNotFound, `evaluation "cc" not found`},
		"/v1/allocation/cc":       {http.StatusNotFound, `allocation "cc" not found`},
		"/v1/deployment/cc":       {http.StatusNotFound, `deployment "cc" not found`},
		"/v1/node/cc":             {http.StatusNotFound, `node "cc" not found`},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.says) {
			t.Errorf("GET %s: got %d %s, want %d and %q in it", path, w.Code, w.Body, want.status, want.says)
		}
	}
}

func TestRelativesOfAnEvaluation(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	eval := func(id, previous, next, blocked string) *api.Evaluation {
		return &api.Evaluation{ID: id, Namespace: "default", JobID: "web", Status: api.EvalStatusComplete, PreviousEval: previous, NextEval: next, BlockedEval: blocked}
	}
	srv.apply(t, &state.PutEvaluations{Evaluations: []*api.Evaluation{
		eval("a", "", "b", ""), eval("b", "a", "", "c"), eval("c", "b", "", ""), eval("d", "", "", ""),
	}})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/evaluation/a?related=true", nil))
	var got api.Evaluation
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, stub := range got.RelatedEvals {
		ids = append(ids, stub.ID)
	}
	if diff := cmp.Diff([]string{"b", "c"}, ids); diff != "" {
		t.Errorf("relatives of a (-want +got):\n%s", diff)
	}
}

func TestJobsAreListedByDomainAndAnnotation(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	for _, id := range []string{"a", "b", "c"} {
		job := storedJob(id)
		if id != "c" {
			job.Domain, job.Annotation = "shop", "of "+id
		}
		srv.apply(t, &state.RegisterJob{Job: job})
	}
	for query, want := range map[string]string{
		"domain=shop":                         "ab",
		"domain=":                             "c",
		"domain=shop&reverse=true":            "ba",
		"domain=none":                         "",
		`filter=Domain+==+"shop"`:             "ab",
		`filter=Annotation+==+"of+b"`:         "b",
		`filter=Annotation+contains+"of"`:     "ab",
		`filter=Domain+is+empty`:              "c",
		`domain=shop&filter=ID+==+"a"`:        "a",
		`filter=Domain+matches+"^s"`:          "ab",
		`filter=Annotation+is+not+empty`:      "ab",
		`filter=Name+==+"a"+and+Domain+!=+""`: "a",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/jobs?"+strings.NewReplacer(`"`, "%22", "==", "%3D%3D").Replace(query), nil))
		var jobs []*api.JobListStub
		if err := json.Unmarshal(w.Body.Bytes(), &jobs); err != nil {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
			continue
		}
		got := ""
		for _, j := range jobs {
			got += j.ID
		}
		if got != want {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
}
