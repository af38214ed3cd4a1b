// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// planningCore has the plans that a test gives it, and writes down the verbs.
type planningCore struct {
	*fakeCore
	plans     []*api.Plan
	instances []*api.Instance
	asked     string
}

func (p *planningCore) Plans(_ context.Context, namespace string) ([]*api.Plan, uint64, error) {
	p.asked = "plans of " + namespace
	return p.plans, p.store.Index(), nil
}

func (p *planningCore) JobPlans(_ context.Context, namespace, id string) ([]*api.Plan, uint64, error) {
	var plans []*api.Plan
	for _, plan := range p.plans {
		if plan.Namespace == namespace && plan.JobID == id {
			plans = append(plans, plan)
		}
	}
	if plans == nil {
		return nil, 0, api.Errorf(api.CodeNotFound, "job %q not found", id)
	}
	return plans, p.store.Index(), nil
}

func (p *planningCore) JobPlan(_ context.Context, namespace, id, name string) (*api.Plan, uint64, error) {
	p.asked = fmt.Sprintf("plan %q of %q", name, id)
	return &api.Plan{Name: name, JobID: id}, p.store.Index(), nil
}

func (p *planningCore) PlanVerb(_ context.Context, namespace, id, plan string, verb api.Verb, req *api.PlanRequest) (*api.PlanResponse, error) {
	p.asked = fmt.Sprintf("%s %q of %q: phase %q, step %q, by %q because %q, %v", verb, plan, id, req.Phase, req.Step, req.By, req.Reason, req.Parameters)
	return &api.PlanResponse{Index: 42}, nil
}

func (p *planningCore) Instances(context.Context, string, string) ([]*api.Instance, uint64, error) {
	return p.instances, p.store.Index(), nil
}

func (p *planningCore) Troubles(_ context.Context, namespace, id string, of server.TroubleFilter) ([]*api.Trouble, uint64, error) {
	p.asked = fmt.Sprintf("troubles of %q: instance %q", id, of.Instance)
	if of.Version != nil {
		p.asked += fmt.Sprintf(", version %d", *of.Version)
	}
	return nil, p.store.Index(), nil
}

func (p *planningCore) InstanceVerb(_ context.Context, namespace, id, name string, verb api.Verb, req *api.InstanceRequest) (*api.InstanceResponse, error) {
	p.asked = fmt.Sprintf("%s %q of %q: %v by %q", verb, name, id, req.Tasks, req.By)
	return &api.InstanceResponse{Index: 42}, nil
}

func (p *planningCore) PlanJob(_ context.Context, req *api.PlanJobRequest) (*api.PlanJobResponse, error) {
	p.asked = "dry run of " + req.Job.ID
	return &api.PlanJobResponse{}, nil
}

func newPlanningCore() *planningCore {
	plan := func(job, name string, status api.PlanStatus) *api.Plan {
		return &api.Plan{Namespace: api.DefaultNamespace, JobID: job, Name: name, Status: status}
	}
	return &planningCore{fakeCore: newFakeCore(), plans: []*api.Plan{
		plan("a/b", "deploy", api.PlanStarting), plan("a/b", "restart", api.PlanWaiting),
		plan("web", "deploy", api.PlanComplete), plan("web", "recovery", api.PlanStarting),
		plan("web", "restore", api.PlanWaiting), plan("web", "backup", api.PlanWaiting), // as declared
	}}
}

// decide stores a decision about a job's plan deploy.
func (f *fakeCore) decide(t *testing.T, job string, verb api.Verb) uint64 {
	t.Helper()
	v := f.store.Snapshot()
	d := &api.Decision{
		ID: api.NewID(), Namespace: api.DefaultNamespace, JobID: job, JobCreateIndex: v.Job(api.DefaultNamespace, job).CreateIndex,
		Verb: verb, Plan: api.PlanDeploy, By: "ann", Reason: "so",
	}
	after := ""
	if all := v.Decisions(api.DefaultNamespace, job); len(all) > 0 {
		after = all[len(all)-1].ID
	}
	return f.apply(t, &state.Decide{Decision: d, After: after})
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
	h := New(Config{Server: newPlanningCore()})
	for query, want := range map[string]string{
		"":                "a/b:deploy a/b:restart web:deploy web:recovery web:restore web:backup",
		"?reverse":        "web:backup web:restore web:recovery web:deploy a/b:restart a/b:deploy",
		"?status=waiting": "a/b:restart web:restore web:backup",
		"?prefix=w":       "web:deploy web:recovery web:restore web:backup",
		"?filter=" + url.QueryEscape(`Name == "deploy"`): "a/b:deploy web:deploy",
		"?per_page=2": "a/b:deploy a/b:restart",
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
	if diff := cmp.Diff([]string{"a/b:deploy a/b:restart", "web:deploy web:recovery", "web:restore web:backup"}, seen); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if got := names(t, request(h, http.MethodGet, "/v1/job/web/plans?per_page=2", "")); got != "web:deploy web:recovery" {
		t.Errorf("the job's first page is %s", got)
	}
	if a := request(h, http.MethodGet, "/v1/job/none/plans", ""); a.status != http.StatusNotFound {
		t.Errorf("the plans of no job: %d %s", a.status, a.body)
	}
}

// TestPathsOfPlansAndInstances finds what a path is about: names have spaces,
// brackets and slashes, and ids of jobs have slashes that nobody escapes.
func TestPathsOfPlansAndInstances(t *testing.T) {
	core := newPlanningCore()
	h := New(Config{Server: core})
	step := url.QueryEscape("web-0:[main, log]")
	for _, c := range []struct{ method, path, body, want string }{
		{"GET", "/v1/job/web/plan/deploy", "", `plan "deploy" of "web"`},
		{"GET", "/v1/job/a/b/plan/deploy", "", `plan "deploy" of "a/b"`},
		{"GET", "/v1/job/a%2Fb/plan/back%20up%2F1", "", `plan "back up/1" of "a/b"`},
		{"GET", "/v1/job/plan/plan/plan", "", `plan "plan" of "plan"`},
		{"GET", "/v1/job/restart/plan/deploy", "", `plan "deploy" of "restart"`},
		{"PUT", "/v1/job/a/b/plan/deploy/interrupt", "", `interrupt "deploy" of "a/b": phase "", step "", by "" because "", map[]`},
		{"POST", "/v1/job/web/plan/deploy/force-complete?phase=web&step=" + step, `{"By": "ann@desk", "Reason": "it is"}`,
			`force-complete "deploy" of "web": phase "web", step "web-0:[main, log]", by "ann@desk" because "it is", map[]`},
		{"PUT", "/v1/job/web/plan/backup/start", `{"Parameters": {"TO": "s3"}}`, `start "backup" of "web": phase "", step "", by "" because "", map[TO:s3]`},
		{"PUT", "/v1/job/web/plan/deploy/continue?by=ann&reason=go", "", `continue "deploy" of "web": phase "", step "", by "ann" because "go", map[]`},
		{"PUT", "/v1/job/a/b/instance/web-0/pause", `{"Tasks": ["main"]}`, `pause "web-0" of "a/b": [main] by ""`},
		{"PUT", "/v1/job/web/plan", `{"Job": {"ID": "web"}}`, "dry run of web"},
		{"PUT", "/v1/job/a/b/plan", `{"Job": {"ID": "a/b"}}`, "dry run of a/b"},
	} {
		core.asked = ""
		a := request(h, c.method, c.path, c.body)
		if a.status != http.StatusOK || core.asked != c.want {
			t.Errorf("%s %s: %d %s, and asked %s; want %s", c.method, c.path, a.status, a.body, core.asked, c.want)
		}
		if strings.Contains(c.path, "/interrupt") && a.header.Get("X-Nomad-Index") != "42" {
			t.Errorf("%s: index %q, want that of the decision", c.path, a.header.Get("X-Nomad-Index"))
		}
	}
}

func TestVerbsThatAreNone(t *testing.T) {
	core := newPlanningCore()
	h := New(Config{Server: core})
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
	if core.asked != "" {
		t.Errorf("nevertheless the core was asked to %s", core.asked)
	}
}

func TestInstancesAreListed(t *testing.T) {
	core := newPlanningCore()
	for _, group := range []string{"web", "api"} {
		for i := range 11 {
			core.instances = append(core.instances, &api.Instance{Name: api.InstanceName(group, i), Group: group, Index: i})
		}
	}
	h := New(Config{Server: core})
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
		core := newPlanningCore()
		h := New(Config{Server: core})
		index := core.apply(t, &state.RegisterJob{Job: storedJob("web")})
		for _, path := range []string{"/v1/plans", "/v1/job/web/plans", "/v1/job/web/plan/deploy"} {
			_, done := ask(h, fmt.Sprintf("%s?index=%d", path, index))
			if isDone(done) {
				t.Fatalf("%s answered at once, though nothing is newer than %d", path, index)
			}
			index = core.decide(t, "web", api.VerbInterrupt)
			if !isDone(done) {
				t.Fatalf("%s did not answer when something was decided", path)
			}
		}
	})
}
