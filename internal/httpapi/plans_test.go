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
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// jobWithPlans is a job whose operators have plans to start.
func jobWithPlans(id string, names ...string) *api.Job {
	job := storedJob(id)
	for _, name := range names {
		job.Plans = append(job.Plans, &api.PlanSpec{Name: name, Phases: []*api.PhaseSpec{{Name: "web", Group: "web"}}})
	}
	job.Canonicalize()
	return job
}

// decide stores a decision about a job's plan deploy.
func (s *idleServer) decide(t *testing.T, job string, verb api.Verb) uint64 {
	t.Helper()
	v := s.Store().Snapshot()
	d := &api.Decision{
		ID: api.NewID(), Namespace: api.DefaultNamespace, JobID: job, JobCreateIndex: v.Job(api.DefaultNamespace, job).CreateIndex,
		Verb: verb, Plan: api.PlanDeploy, By: "ann", Reason: "so",
	}
	after := ""
	if all := v.Decisions(api.DefaultNamespace, job); len(all) > 0 {
		after = all[len(all)-1].ID
	}
	return s.apply(t, &state.Decide{Decision: d, After: after})
}

// request asks the handler without a network.
func request(h *Handler, method, path, body string) answer {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return answer{w.Code, w.Header(), w.Body.String()}
}

// names are the plans of an answer, as job:plan.
func names(t *testing.T, a answer) string {
	t.Helper()
	var plans []*api.Plan
	if err := json.Unmarshal([]byte(a.body), &plans); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	var all []string
	for _, p := range plans {
		all = append(all, p.JobID+":"+p.Name)
	}
	return strings.Join(all, " ")
}

func TestPlansAreListed(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	srv.apply(t, &state.RegisterJob{Job: jobWithPlans("a/b", "restore")})
	srv.apply(t, &state.RegisterJob{Job: jobWithPlans("web", "restore", "backup")}) // in this order
	srv.run(t, "web", api.AllocClientFailed)
	for query, want := range map[string]string{
		"":                "a/b:deploy a/b:restore web:deploy web:recovery web:restore web:backup",
		"?reverse":        "web:backup web:restore web:recovery web:deploy a/b:restore a/b:deploy",
		"?status=waiting": "a/b:restore web:restore web:backup",
		"?prefix=w":       "web:deploy web:recovery web:restore web:backup",
		"?filter=" + url.QueryEscape(`Name == "deploy"`): "a/b:deploy web:deploy",
		"?per_page=2": "a/b:deploy a/b:restore",
	} {
		if got := names(t, request(h, http.MethodGet, "/v1/plans"+query, "")); got != want {
			t.Errorf("/v1/plans%s lists %s, want %s", query, got, want)
		}
	}
	var seen []string
	token := ""
	for {
		a := request(h, http.MethodGet, "/v1/plans?per_page=2&next_token="+url.QueryEscape(token), "")
		seen = append(seen, names(t, a))
		if token = a.header.Get("X-Nomad-NextToken"); token == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"a/b:deploy a/b:restore", "web:deploy web:recovery", "web:restore web:backup"}, seen); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if got := names(t, request(h, http.MethodGet, "/v1/job/web/plans?per_page=2", "")); got != "web:deploy web:recovery" {
		t.Errorf("the job's first page is %s", got)
	}
	if a := request(h, http.MethodGet, "/v1/job/none/plans", ""); a.status != http.StatusNotFound {
		t.Errorf("the plans of no job: %d %s", a.status, a.body)
	}
}

// TestPathsOfPlansAndInstances finds the object of a path: names have spaces,
// brackets and slashes, and ids of jobs have slashes that clients do not escape.
func TestPathsOfPlansAndInstances(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	for _, id := range []string{"web", "a/b", "plan", "restart"} {
		srv.apply(t, &state.RegisterJob{Job: jobWithPlans(id, "back up/1", "plan")})
	}
	for path, want := range map[string]string{
		"/v1/job/web/plan/deploy":          "deploy of web",
		"/v1/job/a/b/plan/deploy":          "deploy of a/b",
		"/v1/job/a%2Fb/plan/back%20up%2F1": "back up/1 of a/b",
		"/v1/job/plan/plan/plan":           "plan of plan",
		"/v1/job/restart/plan/deploy":      "deploy of restart",
	} {
		a := request(h, http.MethodGet, path, "")
		var p api.Plan
		if err := json.Unmarshal([]byte(a.body), &p); err != nil || p.Name+" of "+p.JobID != want {
			t.Errorf("GET %s: %d %s, want plan %s", path, a.status, a.body, want)
		}
	}
	step := url.QueryEscape("web-0:[main]")
	for _, c := range []struct{ method, path, body, want string }{
		{"PUT", "/v1/job/a/b/plan/deploy/interrupt", "", `interrupt "deploy" of "a/b": phase "", step "", by "unknown" because "", map[]`},
		{"POST", "/v1/job/web/plan/deploy/force-complete?phase=web&step=" + step, `{"By": "ann@desk", "Reason": "it is"}`,
			`force-complete "deploy" of "web": phase "web", step "web-0:[main]", by "ann@desk" because "it is", map[]`},
		{"PUT", "/v1/job/web/plan/back%20up%2F1/start", `{"Parameters": {"TO": "s3"}}`, `start "back up/1" of "web": phase "", step "", by "unknown" because "", map[TO:s3]`},
		{"PUT", "/v1/job/a/b/plan/deploy/continue?by=ann&reason=go", "", `continue "deploy" of "a/b": phase "", step "", by "ann" because "go", map[]`},
		{"PUT", "/v1/job/a/b/instance/web-0/pause", `{"Tasks": ["main"]}`, `pause "web-0" of "a/b": [main] by "unknown"`},
	} {
		a := request(h, c.method, c.path, c.body)
		d := latestDecision(srv.Store().Snapshot())
		if a.status != http.StatusOK || d == nil {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
			continue
		}
		got := fmt.Sprintf("%s %q of %q: phase %q, step %q, by %q because %q, %v", d.Verb, d.Plan, d.JobID, d.Phase, d.Step, d.By, d.Reason, d.Parameters)
		if d.Plan == "" {
			got = fmt.Sprintf("%s %q of %q: %v by %q", d.Verb, api.InstanceName(d.Group, d.Index), d.JobID, d.Tasks, d.By)
		}
		if index := fmt.Sprint(srv.Store().Index()); got != c.want || a.header.Get("X-Nomad-Index") != index {
			t.Errorf("%s %s: at index %s the decision is %s; want %s at %s", c.method, c.path, a.header.Get("X-Nomad-Index"), got, c.want, index)
		}
	}
	for path, id := range map[string]string{"/v1/job/web/plan": "web", "/v1/job/a/b/plan": "a/b"} {
		job := storedJob(id)
		job.Priority = 70
		body, err := json.Marshal(api.PlanJobRequest{Job: job, Diff: true})
		if err != nil {
			t.Fatal(err)
		}
		if a := request(h, http.MethodPut, path, string(body)); a.status != http.StatusOK || !strings.Contains(a.body, `"New":"70"`) || !strings.Contains(a.body, fmt.Sprintf(`"ID":%q`, id)) {
			t.Errorf("PUT %s: %d %s, want a dry run of %s", path, a.status, a.body, id)
		}
	}
}

// latestDecision is the newest decision of all jobs; nil if none is stored.
func latestDecision(v *state.Snapshot) (latest *api.Decision) {
	for job := range v.Jobs() {
		for _, d := range v.Decisions(job.Namespace, job.ID) {
			if latest == nil || d.CreateIndex > latest.CreateIndex {
				latest = d
			}
		}
	}
	return latest
}

func TestVerbsThatAreNone(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/v1/job/web/plan/deploy/forceComplete":      {404, `verb "forceComplete" not found: those of plans are start, stop, continue, interrupt, restart, force-complete`},
		"/v1/job/web/instance/web-0/stop":            {404, `verb "stop" not found: those of instances are restart, replace, pause, resume`},
		"/v1/job/web/plan/deploy/continue?phase=two": {400, `phase: the query says "two", and the body "one"`},
	} {
		body := `{"Phase": "one"}`
		if strings.Contains(path, "/instance/") {
			body = `{"Reason": "to see"}`
		}
		a := request(h, http.MethodPut, path, body)
		if a.status != want.status || a.body != want.says {
			t.Errorf("PUT %s: got %d %s, want %d %s", path, a.status, a.body, want.status, want.says)
		}
	}
	if d := latestDecision(srv.Store().Snapshot()); d != nil {
		t.Errorf("a rejected verb was decided: %+v", d)
	}
}

func TestInstancesAreListed(t *testing.T) {
	srv := newIdleServer(t)
	job := storedJob("web")
	job.Groups = append(job.Groups, storedJob("web").Groups...)
	job.Groups[1].Name = "api"
	for _, g := range job.Groups {
		*g.Count = 11
	}
	srv.apply(t, &state.RegisterJob{Job: job})
	h := New(Config{Server: srv.Server})
	var seen []string
	token := ""
	for {
		a := request(h, http.MethodGet, "/v1/job/web/instances?prefix=web&per_page=6&next_token="+url.QueryEscape(token), "")
		var page []*api.Instance
		if err := json.Unmarshal([]byte(a.body), &page); err != nil {
			t.Fatalf("%d %s", a.status, a.body)
		}
		for _, in := range page {
			seen = append(seen, in.Name)
		}
		if token = a.header.Get("X-Nomad-NextToken"); token == "" {
			break
		}
	}
	if got := strings.Join(seen, " "); got != "web-0 web-1 web-2 web-3 web-4 web-5 web-6 web-7 web-8 web-9 web-10" {
		t.Errorf("the pages are %s", got)
	}
	if a := request(h, http.MethodGet, "/v1/job/web/instance/api-10", ""); a.status != http.StatusOK || !strings.Contains(a.body, `"Name":"api-10"`) {
		t.Errorf("one instance: %d %s", a.status, a.body)
	}
	a := request(h, http.MethodGet, "/v1/job/web/instance/web-11", "")
	if a.status != http.StatusNotFound || !strings.HasPrefix(a.body, `instance "web-11" not found: job "web" has web-0, web-1`) || !strings.HasSuffix(a.body, ", ...") {
		t.Errorf("an instance that there is not: %d %s", a.status, a.body)
	}
}

func TestPlansBlockUntilSomethingOfThemChanges(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		index := srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
		for _, path := range []string{"/v1/plans", "/v1/job/web/plans", "/v1/job/web/plan/deploy"} {
			_, done := ask(h, fmt.Sprintf("%s?index=%d", path, index))
			if isDone(done) {
				t.Fatalf("%s answered at once, though nothing is newer than %d", path, index)
			}
			index = srv.decide(t, "web", api.VerbInterrupt)
			if !isDone(done) {
				t.Fatalf("%s did not answer when something was decided", path)
			}
		}
	})
}
