// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/clitest"
)

// TestWatchOfAPlanEndsWithTheVersionThatWasWatched has another version deployed in
// the place of the one that is watched.
func TestWatchOfAPlanEndsWithTheVersionThatWasWatched(t *testing.T) {
	tree := func(version uint64, status api.PlanStatus, run string) *api.Plan {
		pl := clitest.Plan(api.PlanDeploy, status, clitest.Phase("web", api.StrategySerial, status, clitest.Step("web", 0, status, "server")))
		pl.JobVersion, pl.Run = version, run
		return pl
	}
	for _, test := range []struct {
		name   string
		then   *api.Plan
		status string // of the first deployment
		want   string // of the error; "": none
	}{
		{"it was reverted", tree(3, api.PlanComplete, ""), api.DeploymentFailed,
			"version 2 of job \"web\" failed, and version 3 replaced it: Failed due to progress deadline\n  web-0: boom"},
		{"a newer one took its turn", tree(3, api.PlanComplete, ""), api.DeploymentCancelled, ""},
		{"it succeeded", tree(2, api.PlanComplete, ""), api.DeploymentSuccessful, ""},
		{"it failed", tree(2, api.PlanError, "d"), api.DeploymentFailed, "is in error"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var answer any = tree(2, api.PlanStarted, "d")
			switch {
			case strings.HasPrefix(r.URL.Path, "/v1/deployment/"):
				answer = &api.Deployment{
					ID: "d", JobVersion: 2, Status: test.status, StatusDescription: "Failed due to progress deadline",
					Troubles: []*api.Trouble{{Instance: "web-0", Instances: 1, Message: "boom"}},
				}
			case r.URL.Query().Get("index") != "":
				answer = test.then
			}
			w.Header().Set("X-Nomad-Index", "7")
			if err := json.NewEncoder(w).Encode(answer); err != nil {
				t.Error(err)
			}
		}))
		cl, err := client.New(client.Config{Address: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c := &cli{Process: Process{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Now: time.Now}}
		err = c.planWatch(cl, "web", api.PlanDeploy).run(t.Context())
		server.Close()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q; output:\n%s", test.name, err, test.want, out.String())
		}
	}
}

// TestWatchOfAPlanThatEndsAtOnce has the plan end between the list that names it and the first look at
// it.
func TestWatchOfAPlanThatEndsAtOnce(t *testing.T) {
	recovery := clitest.Plan(api.PlanRecovery, api.PlanInProgress, clitest.Phase("web", api.StrategySerial, api.PlanInProgress, clitest.Step("web", 0, api.PlanInProgress, "server")))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/plans") {
			w.Header().Set("X-Nomad-Index", "7")
			if err := json.NewEncoder(w).Encode([]*api.Plan{recovery}); err != nil {
				t.Error(err)
			}
			return
		}
		http.Error(w, "job \"web\" has no such plan now", http.StatusNotFound)
	}))
	defer server.Close()
	cl, err := client.New(client.Config{Address: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := &cli{Process: Process{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Now: time.Now}}
	if err := c.watchPlan(t.Context(), cl, "web", "", time.Minute); err != nil || !strings.Contains(out.String(), "Plan recovery of job \"web\" is complete.") {
		t.Errorf("%v, output:\n%s", err, out.String())
	}
	if err := c.watchPlan(t.Context(), cl, "web", "warming", time.Minute); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("a plan that no list contained: %v", err)
	}
}
