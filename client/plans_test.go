// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// TestVerbsGoToTheirRoutes looks at what the calls about plans, restarts,
// instances and deployments send.
func TestVerbsGoToTheirRoutes(t *testing.T) {
	var asked string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.EscapedPath() + " " + string(body)
		if r.URL.RawQuery != "" {
			asked = r.Method + " " + r.URL.EscapedPath() + "?" + r.URL.RawQuery
		}
		io.WriteString(w, "null")
	})
	step := &api.PlanRequest{Phase: "web", Step: "web-0:[main, log]", By: "ann@desk", Reason: "it is"}
	for want, call := range map[string]func(context.Context) error{
		"GET /v1/plans?prefix=w": func(ctx context.Context) error {
			_, _, err := c.Plans().List(ctx, &client.QueryOptions{Prefix: "w"})
			return err
		},
		"GET /v1/job/a%2Fb/plans ": func(ctx context.Context) error {
			_, _, err := c.Plans().OfJob(ctx, "a/b", nil)
			return err
		},
		"GET /v1/job/a%2Fb/plan/back%20up%2F1 ": func(ctx context.Context) error {
			_, _, err := c.Plans().Get(ctx, "a/b", "back up/1", nil)
			return err
		},
		`PUT /v1/job/web/plan/deploy/force-complete {"Phase":"web","Step":"web-0:[main, log]","By":"ann@desk","Reason":"it is"}`: func(ctx context.Context) error {
			_, err := c.Plans().Do(ctx, "web", "deploy", api.VerbForceComplete, step)
			return err
		},
		"PUT /v1/job/web/plan/deploy/interrupt {}": func(ctx context.Context) error {
			_, err := c.Plans().Do(ctx, "web", "deploy", api.VerbInterrupt, nil)
			return err
		},
		"GET /v1/job/web/decisions ": func(ctx context.Context) error {
			_, _, err := c.Plans().Decisions(ctx, "web", nil)
			return err
		},
		"GET /v1/callbacks ": func(ctx context.Context) error {
			_, _, err := c.Callbacks().List(ctx, nil)
			return err
		},
		"GET /v1/callback/ab ": func(ctx context.Context) error {
			_, _, err := c.Callbacks().Get(ctx, "ab", nil)
			return err
		},
		"GET /v1/job/web/callbacks ": func(ctx context.Context) error {
			_, _, err := c.Callbacks().OfJob(ctx, "web", nil)
			return err
		},
		"GET /v1/restarts ": func(ctx context.Context) error {
			_, _, err := c.Restarts().List(ctx, nil)
			return err
		},
		"GET /v1/restart/ab ": func(ctx context.Context) error {
			_, _, err := c.Restarts().Get(ctx, "ab", nil)
			return err
		},
		"GET /v1/job/web/restarts ": func(ctx context.Context) error {
			_, _, err := c.Restarts().OfJob(ctx, "web", nil)
			return err
		},
		`PUT /v1/job/web/restart {"BatchSize":2,"BatchWait":1000000000}`: func(ctx context.Context) error {
			_, err := c.Restarts().Start(ctx, "web", &api.JobRestartRequest{BatchSize: 2, BatchWait: time.Second})
			return err
		},
		"PUT /v1/job/web/restart/ab/pause {}": func(ctx context.Context) error {
			_, err := c.Restarts().Pause(ctx, "web", "ab", nil)
			return err
		},
		`PUT /v1/job/web/restart/ab/resume {"By":"ann"}`: func(ctx context.Context) error {
			_, err := c.Restarts().Resume(ctx, "web", "ab", &api.JobRestartVerbRequest{By: "ann"})
			return err
		},
		"DELETE /v1/job/web/restart/ab {}": func(ctx context.Context) error {
			_, err := c.Restarts().Cancel(ctx, "web", "ab", nil)
			return err
		},
		"GET /v1/allocation/ab/services ": func(ctx context.Context) error {
			_, _, err := c.Services().OfAllocation(ctx, "ab", nil)
			return err
		},
		"GET /v1/job/web/services ": func(ctx context.Context) error {
			_, _, err := c.Services().OfJob(ctx, "web", nil)
			return err
		},
		"GET /v1/job/web/instances ": func(ctx context.Context) error {
			_, _, err := c.Instances().List(ctx, "web", nil)
			return err
		},
		"GET /v1/job/web/instance/web-0 ": func(ctx context.Context) error {
			_, _, err := c.Instances().Get(ctx, "web", "web-0", nil)
			return err
		},
		`PUT /v1/job/web/instance/web-0/pause {"Tasks":["main"]}`: func(ctx context.Context) error {
			_, err := c.Instances().Do(ctx, "web", "web-0", api.VerbPause, &api.InstanceRequest{Tasks: []string{"main"}})
			return err
		},
		`PUT /v1/deployment/promote/d {"DeploymentID":"d","All":true,"Groups":null,"PromotedAt":0,"Region":"","Namespace":"","SecretID":""}`: func(ctx context.Context) error {
			_, err := c.Deployments().Promote(ctx, "d")
			return err
		},
		`PUT /v1/deployment/promote/d {"DeploymentID":"d","All":false,"Groups":["web"],"PromotedAt":0,"Region":"","Namespace":"","SecretID":""}`: func(ctx context.Context) error {
			_, err := c.Deployments().Promote(ctx, "d", "web")
			return err
		},
		`PUT /v1/deployment/allocation-health/d {"DeploymentID":"d","HealthyAllocationIDs":["a"],"UnhealthyAllocationIDs":["b"],"Region":"","Namespace":"","SecretID":""}`: func(ctx context.Context) error {
			_, err := c.Deployments().SetHealth(ctx, "d", []string{"a"}, []string{"b"})
			return err
		},
		`PUT /v1/deployment/unblock/d {"DeploymentID":"d","Region":"","Namespace":"","SecretID":""}`: func(ctx context.Context) error {
			_, err := c.Deployments().Unblock(ctx, "d")
			return err
		},
	} {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	}
}
