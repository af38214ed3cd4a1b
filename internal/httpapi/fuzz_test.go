// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
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

func (acceptingCore) SetJobStability(context.Context, string, string, uint64, bool) (uint64, error) {
	return 1, nil
}

func (acceptingCore) RegisterNode(context.Context, *api.Node) (*api.NodeHeartbeatResponse, error) {
	return &api.NodeHeartbeatResponse{}, nil
}

func (acceptingCore) UpdateAllocations(context.Context, string, string, []*api.Allocation) (uint64, error) {
	return 1, nil
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
			if r.In == nil {
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
