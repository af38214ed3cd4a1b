// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// acceptingCore is a server that agrees to everything and writes nothing.
type acceptingCore struct{ *fakeCore }

func (acceptingCore) RegisterJob(_ context.Context, req *api.RegisterJobRequest) (*api.RegisterJobResponse, error) {
	job := req.Job.Copy()
	job.Canonicalize()
	return &api.RegisterJobResponse{}, job.Validate()
}

func (acceptingCore) ValidateJob(_ context.Context, job *api.Job) *api.ValidateJobResponse {
	return &api.ValidateJobResponse{}
}

func (acceptingCore) PlanJob(_ context.Context, req *api.PlanJobRequest) (*api.PlanJobResponse, error) {
	return &api.PlanJobResponse{Diff: api.DiffJobs(nil, req.Job, true)}, nil
}

func (acceptingCore) RevertJob(context.Context, *api.RevertJobRequest) (*api.RegisterJobResponse, error) {
	return &api.RegisterJobResponse{}, nil
}

func (acceptingCore) ScaleJob(context.Context, string, string, *api.ScaleJobRequest) (*api.RegisterJobResponse, error) {
	return &api.RegisterJobResponse{}, nil
}

func (acceptingCore) EvaluateJob(context.Context, string, string, bool) (*api.RegisterJobResponse, error) {
	return &api.RegisterJobResponse{}, nil
}

func (acceptingCore) ExplainJob(context.Context, string, string) (*api.JobExplanation, error) {
	return &api.JobExplanation{}, nil
}

func (acceptingCore) ExplainNode(context.Context, string, string, string) ([]*api.NodeExplanation, error) {
	return nil, nil
}

func (acceptingCore) DispatchJob(context.Context, string, string, *api.DispatchJobRequest) (*api.DispatchJobResponse, error) {
	return &api.DispatchJobResponse{}, nil
}

func (acceptingCore) ForcePeriodic(context.Context, string, string) (*api.ForcePeriodicResponse, error) {
	return &api.ForcePeriodicResponse{}, nil
}

func (acceptingCore) SetJobStability(context.Context, string, string, uint64, bool) (uint64, error) {
	return 1, nil
}

func (acceptingCore) RegisterNode(context.Context, *api.Node) (*api.NodeHeartbeatResponse, error) {
	return &api.NodeHeartbeatResponse{}, nil
}

func (acceptingCore) SetSchedulerConfig(_ context.Context, r *api.SetSchedulerConfigRequest, _ *uint64) (uint64, error) {
	return 1, r.Over(api.DefaultSchedulerConfig()).Validate()
}

func (acceptingCore) PutNodePool(_ context.Context, p *api.NodePool) (uint64, error) {
	return 1, p.Validate()
}

func (acceptingCore) MarkDomain(_ context.Context, name string, r *api.DomainRequest) (uint64, error) {
	return 1, r.Validate(name)
}

func (acceptingCore) OfferOrphans(context.Context, string, string, *api.OfferOrphansRequest) (*api.OfferOrphansResponse, error) {
	return &api.OfferOrphansResponse{}, nil
}

func (acceptingCore) SpeakFor(string, string, string) error { return nil }

func (acceptingCore) EndFreshness(context.Context, string) (uint64, error) { return 1, nil }

func (acceptingCore) UpdateAllocations(context.Context, string, string, []*api.Allocation) (uint64, error) {
	return 1, nil
}

func (acceptingCore) Plans(context.Context, string) ([]*api.Plan, uint64, error) {
	return []*api.Plan{{Name: "deploy", JobID: "web", Namespace: "default"}, {Name: "b", JobID: "a"}}, 1, nil
}

func (acceptingCore) JobPlans(context.Context, string, string) ([]*api.Plan, uint64, error) {
	return []*api.Plan{{Name: "deploy"}, {Name: "recovery"}}, 1, nil
}

func (acceptingCore) JobPlan(context.Context, string, string, string) (*api.Plan, uint64, error) {
	return &api.Plan{}, 1, nil
}

func (acceptingCore) PlanVerb(context.Context, string, string, string, api.Verb, *api.PlanRequest) (*api.PlanResponse, error) {
	return &api.PlanResponse{}, nil
}

func (acceptingCore) StartRestart(context.Context, string, string, *api.JobRestartRequest) (*api.JobRestart, error) {
	return &api.JobRestart{}, nil
}

func (acceptingCore) ChangeRestart(context.Context, string, string, *api.JobRestartVerbRequest) (*api.JobRestart, error) {
	return &api.JobRestart{}, nil
}

func (acceptingCore) Instances(context.Context, string, string) ([]*api.Instance, uint64, error) {
	return []*api.Instance{{Name: "web-0", Group: "web"}}, 1, nil
}

func (acceptingCore) Troubles(context.Context, string, string, server.TroubleFilter) ([]*api.Trouble, uint64, error) {
	return []*api.Trouble{{Kind: api.TroubleExited, Instance: "web-0"}}, 1, nil
}

func (acceptingCore) ChangeJob(context.Context, string, string, *api.JobChange) (*api.ChangeJobResponse, error) {
	return &api.ChangeJobResponse{}, nil
}

func (acceptingCore) AllInstances(context.Context, server.InstanceFilter) ([]*api.Instance, uint64, error) {
	return []*api.Instance{{Name: "web-0", Group: "web"}}, 1, nil
}

func (acceptingCore) InstancesByJob(server.InstanceFilter) (iter.Seq[[]*api.Instance], uint64) {
	return slices.Values([][]*api.Instance{{{Name: "web-0", Group: "web"}}}), 1
}

func (acceptingCore) KillInstance(context.Context, string, string, string, bool) (*api.KillInstanceResponse, error) {
	return &api.KillInstanceResponse{}, nil
}

func (acceptingCore) InstanceVerb(context.Context, string, string, string, api.Verb, *api.InstanceRequest) (*api.InstanceResponse, error) {
	return &api.InstanceResponse{}, nil
}

// FuzzRequestBodies sends any body to every route that takes one: whatever it
// is, it is refused in words or understood, and never a failure of the server.
func FuzzRequestBodies(f *testing.F) {
	for _, body := range samples {
		f.Add([]byte(body))
	}
	for _, body := range []string{
		`null`, `{`, `[]`, `"x"`, `1e999`, `{"Job": null}`, `{"Job": {"ID": null, "TaskGroups": [null]}}`,
		`{"Job": {"TaskGroups": [{"Tasks": [{"Config": {"a": [1, {"b": null}]}}]}]}}`, `{"Job": {"Update": {"Stagger": "30s"}}}`,
	} {
		f.Add([]byte(body))
	}
	h := New(Config{Server: acceptingCore{newFakeCore()}})
	table := routes()
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, r := range table {
			if r.In == nil || r.Stream != "" {
				continue
			}
			w := httptest.NewRecorder()
			req := httptest.NewRequest(r.Method, pathOf(r.Pattern), strings.NewReader(string(body)))
			h.ServeHTTP(w, req)
			if w.Code == http.StatusInternalServerError {
				t.Errorf("%s %s: %d %s", r.Method, r.Pattern, w.Code, w.Body)
			}
			if w.Code >= 400 && w.Body.Len() == 0 {
				t.Errorf("%s %s: %d without a word", r.Method, r.Pattern, w.Code)
			}
		}
	})
}

// FuzzQueries asks every read anything: the answer may be a refusal in words,
// but never a failure of the server.
func FuzzQueries(f *testing.F) {
	for _, seed := range [][2]string{
		{"web", "filter=Status+%3D%3D+%22running%22&per_page=1"}, {"web", "next_token=1.a&reverse&per_page=1"},
		{"a/b", "index=1&wait=1ms&pretty"}, {"../x", "namespace=*&prefix=%00"}, {"%2F", "filter=not+(Meta.team+is+empty)"},
		{"", "topic=Job:x&region=global"}, {"e", "filter=QueuedAllocations.web+>+1"}, {testNode, "resources=true&os=1"},
	} {
		f.Add(seed[0], seed[1])
	}
	core := newFakeCore()
	for i, id := range []string{"web", "web/child"} {
		core.store.Apply(uint64(i+1), []state.Command{&state.RegisterJob{Job: storedJob(id), Evaluation: &api.Evaluation{
			ID: fmt.Sprint("e", i), Namespace: "default", JobID: id, Status: api.EvalStatusPending,
		}}})
	}
	core.store.Apply(3, []state.Command{&state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n", SecretID: "hush"}}})
	h := New(Config{Server: acceptingCore{core}})
	table := routes()
	f.Fuzz(func(t *testing.T, id, query string) {
		for _, r := range table {
			if r.Method != http.MethodGet || r.Stream == lines {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			path := strings.NewReplacer("{id}", url.PathEscape(id), "{alloc}", url.PathEscape(id), "{plan}", "deploy", "{name}", "web-0", "{rid}", url.PathEscape(id)).Replace(r.Pattern)
			req := &http.Request{Method: r.Method, URL: &url.URL{Path: r.Pattern, RawQuery: query}, Header: http.Header{}, Host: "x"}
			if u, err := url.ParseRequestURI(path); err == nil {
				req.URL.Path, req.URL.RawPath = u.Path, u.RawPath
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req.WithContext(ctx))
			cancel()
			if w.Code == http.StatusInternalServerError && r.Pattern != "/v1/agent/health" {
				t.Errorf("GET %s?%s: %d %s", path, query, w.Code, w.Body)
			}
			if strings.Contains(w.Body.String(), "hush") {
				t.Errorf("GET %s?%s shows the node's secret", path, query)
			}
		}
	})
}
