// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func TestEvaluationsAreDeletedAndUnblocked(t *testing.T) {
	h := newHarness(t)
	h.register("web") // there is no node
	h.register("other")
	h.settle()
	evals := h.client.Evaluations()
	list := func(filter string) []*api.Evaluation {
		t.Helper()
		l, _, err := evals.List(t.Context(), &client.QueryOptions{Filter: filter})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	blocked := list(`Status == "blocked" and JobID == "web"`)
	if len(blocked) != 1 {
		t.Fatalf("%d evaluations are blocked, want 1", len(blocked))
	}
	if res, err := evals.Unblock(t.Context(), blocked[0].ID[:8]); err != nil || res.EvalID != blocked[0].ID {
		t.Errorf("unblock: %+v, %v", res, err)
	}
	h.settle()
	if _, err := evals.Unblock(t.Context(), blocked[0].ID); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("unblocking what has ended: %v, want a refusal", err)
	}
	for _, req := range []*api.EvaluationDeleteRequest{{}, {EvalIDs: []string{"a"}, Filter: "b"}, {Filter: "Status =="}} {
		if _, err := evals.Delete(t.Context(), req); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("delete %+v: %v, want a refusal", req, err)
		}
	}
	want := len(list(`JobID == "web"`))
	if n, err := evals.Delete(t.Context(), &api.EvaluationDeleteRequest{Filter: `JobID == "web"`}); err != nil || n != want {
		t.Errorf("delete by filter: %d, %v; want %d", n, err, want)
	}
	rest := list("")
	if n, err := evals.Delete(t.Context(), &api.EvaluationDeleteRequest{EvalIDs: []string{rest[0].ID}}); err != nil || n != 1 {
		t.Errorf("delete by id: %d, %v; want 1", n, err)
	}
	if after := list(""); len(after) != len(rest)-1 || len(list(`JobID == "web"`)) != 0 {
		t.Errorf("%d evaluations are left, want %d", len(after), len(rest)-1)
	}
}
