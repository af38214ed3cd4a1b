// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// uninstalled checks that the plan of a purge is complete by every way to read
// it.
func (s *sdkService) uninstalled(when string) *api.Plan {
	s.t.Helper()
	for _, name := range []string{"deploy", "uninstall"} {
		code, tree := s.tree(name)
		if code != http.StatusOK || !strings.Contains(tree, "(COMPLETE)\n└─ deregister (COMPLETE)") {
			s.t.Errorf("%s: the SDK's plan %s is answered %d:\n%s", when, name, code, tree)
		}
	}
	pl, _, err := s.Client.Plans().Get(s.t.Context(), s.name, api.PlanUninstall, nil)
	if err != nil || pl.Status != api.PlanComplete || pl.Completed != 3 || pl.Total != 3 {
		s.t.Fatalf("%s: the plan is %+v (%v), want 3 of 3 steps complete", when, pl, err)
	}
	list, _, err := s.Client.Plans().List(s.t.Context(), nil)
	if err != nil || len(list) != 1 || list[0].ID != pl.ID || list[0].Status != api.PlanComplete {
		s.t.Errorf("%s: listed are %+v (%v), want the plan uninstall", when, list, err)
	}
	return pl
}

func TestUninstallPlanStaysReadableAfterAPurge(t *testing.T) {
	s := newSDKService(t, "hello-world")
	s.open("hello-0", "world-0")
	s.register(s.job(1, 1, "one"))
	s.shows("deploy", http.StatusOK, `
deploy (serial strategy) (COMPLETE)
├─ hello (COMPLETE)
│  └─ hello-0:[server] (COMPLETE)
└─ world (COMPLETE)
   └─ world-0:[server, sidecar] (COMPLETE)
`)
	if _, err := s.Client.Jobs().Deregister(t.Context(), s.name, client.DeregisterOptions{Purge: true}); err != nil {
		t.Fatal(err)
	}
	// A follower of the plan, by blocking queries, is never told that there is none
	// before it is complete.
	q := &client.QueryOptions{}
	for {
		pl, meta, err := s.Client.Plans().Get(t.Context(), s.name, api.PlanUninstall, q)
		if err != nil {
			t.Fatalf("follow the plan uninstall: %v", err)
		}
		if pl.Status == api.PlanComplete {
			break
		}
		q.Index = meta.Index
	}
	if _, _, err := s.Client.Jobs().Get(t.Context(), s.name, nil); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("the plan is complete, and the job is there: %v", err)
	}
	before := s.uninstalled("after the purge")

	s.Kill()
	s.start()
	s.waitReady()
	after := s.uninstalled("after a crash of the server")
	if after.ID != before.ID || !after.Since.Equal(before.Since) {
		t.Errorf("after a crash of the server the plan is %+v, and was %+v", after, before)
	}

	s.register(s.job(1, 1, "two"))
	s.eventually("the new job is deployed", func(context.Context) error {
		if code, tree := s.tree("deploy"); code != http.StatusOK || !strings.Contains(tree, "hello-0:[server] (COMPLETE)") {
			return fmt.Errorf("%d %s", code, tree)
		}
		return nil
	})
	if _, _, err := s.Client.Plans().Get(t.Context(), s.name, api.PlanUninstall, nil); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("the plan uninstall of a job that is registered again: %v, want not found", err)
	}
}
