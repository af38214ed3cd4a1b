// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/jobspec"
)

// refused is a job file in which nearly everything is wrong, and what is to be
// said of it.
func refused(t *testing.T) (*api.Job, *jobspec.Places, string) {
	t.Helper()
	const path = "../../jobspec/testdata/refused/traffic.hcl"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	job, places, err := jobspec.ParseWithPlaces(jobspec.Source{Name: "traffic.hcl", Text: text}, jobspec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile(path + ".err")
	if err != nil {
		t.Fatal(err)
	}
	return job, places, strings.TrimSpace(string(golden))
}

// Whatever is wrong with a job comes in one answer, and can be shown in its file.
func TestEverythingWrongIsInOneAnswer(t *testing.T) {
	h := newHarness(t)
	job, places, want := refused(t)
	_, err := h.client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: job})
	if api.CodeOf(err) != api.CodeInvalid {
		t.Fatalf("the job was not refused: %v", err)
	}
	if diff := cmp.Diff(want, places.Explain(err).Error()); diff != "" {
		t.Errorf("registering (-want +got):\n%s", diff)
	}
	answer, err := h.client.Jobs().Validate(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	told := places.Explain(&api.Error{Code: api.CodeInvalid, Message: "job web is not valid", Detail: answer.ValidationErrors})
	if diff := cmp.Diff(want, told.Error()); diff != "" {
		t.Errorf("validating (-want +got):\n%s", diff)
	}
}

// A change in place is told everything, too: what registering would say of the
// fields that it has.
func TestEverythingWrongWithAChangeIsInOneAnswer(t *testing.T) {
	h := newHarness(t)
	bad, _, _ := refused(t)
	g := bad.Groups[0]
	good := &api.Job{ID: "web", Datacenters: []string{"*"}, Groups: []*api.Group{{
		Name: "site", Networks: g.Networks, Services: []*api.Service{{Name: "site", PortLabel: "http", Provider: "nomad"}},
		Tasks: []*api.Task{{Name: "server", Driver: "mock"}},
	}}}
	if _, err := h.client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: good}); err != nil {
		t.Fatal(err)
	}
	long, many := strings.Repeat("x", api.MaxAnnotation+1), -1
	_, err := h.client.Jobs().Change(t.Context(), "web", &api.JobChange{Annotation: &long, Groups: map[string]*api.GroupChange{"site": {
		Count: &many, Routes: &g.Routes, MetricTags: &g.MetricTags, Services: map[string]*api.ServiceChange{"site": {Checks: &g.Services[0].Checks}},
	}}})
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeInvalid {
		t.Fatalf("the change was not refused: %v", err)
	}

	bad.Domain, bad.Annotation, g.Count, g.Restart, g.Update, g.Tasks = "", long, &many, nil, nil, good.Groups[0].Tasks
	s := g.Services[0]
	s.Name, s.PortLabel, s.Weights = "site", "http", nil
	_, err = h.client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: bad})
	var all *api.Error
	if !errors.As(err, &all) || len(all.Detail) < 28 {
		t.Fatalf("too little is wrong with the job: %v", err)
	}
	if diff := cmp.Diff(all.Detail, e.Detail); diff != "" {
		t.Errorf("changing in place is told other things than registering (-registering +changing):\n%s", diff)
	}
}
