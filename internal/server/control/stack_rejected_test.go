// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// TestAStackThatLosesItsRouteWhileItDeploysFailsWithTheCause has another job take the stack's
// route between the decision to deploy the stack and the registration of its job.
func TestAStackThatLosesItsRouteWhileItDeploysFailsWithTheCause(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	store := state.New()
	routed := func(id string) *api.Job {
		return &api.Job{ID: id, Name: id, Namespace: "default", Type: api.JobTypeService, Stack: &api.StackSpec{}, Groups: []*api.Group{{
			Name: "web", Routes: []*api.Route{{Host: "web.example.com", Port: "http"}},
		}}}
	}
	s := &api.Stack{
		ID: api.NewID(), Name: "web--1-0-0--aaaaaaaa", Namespace: "default", Unit: "web", Version: api.StackVersion{Major: 1},
		Shape: api.ShapeService, Spec: &api.StackSpec{}, Status: api.StackPending, StatusSince: now,
	}
	applyTo(t, store, &state.DeployStacks{Index: store.Snapshot().LifecycleIndex(), Stacks: []*api.Stack{s}, Jobs: []*api.Job{routed(s.Name)}})
	c := control.NewStacks()
	cmds, _ := c.Act(store.Snapshot(), "default\x00"+s.Name, now)
	if len(cmds) != 2 {
		t.Fatalf("a pending stack leads to %d commands, want the registration of its job and its new status", len(cmds))
	}
	applyTo(t, store, &state.RegisterJob{Job: routed("other")})
	if errs := store.Apply(store.Index()+1, cmds); len(errs) != 2 || errs[0] == nil {
		t.Fatalf("the registration after that of another job with the route: %v, want that it is refused", errs)
	}
	cmds, _ = c.Act(store.Snapshot(), "default\x00"+s.Name, now)
	applyTo(t, store, cmds...)
	got := store.Snapshot().Stack("default", s.Name)
	if got.Status != api.StackFailed || got.StatusReason != api.ReasonStackJobRejected || !strings.Contains(got.StatusText(), "routes that other jobs hold") {
		t.Errorf("the stack is %s (%s), want that it failed because its job was rejected", got.Status, got.StatusText())
	}
	if cmds, _ := c.Act(store.Snapshot(), "default\x00"+s.Name, now); len(cmds) > 0 {
		t.Errorf("a failed stack without a job leads to %d commands", len(cmds))
	}
}
