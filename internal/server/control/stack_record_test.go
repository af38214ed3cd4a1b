// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

func TestTheRecordsOfTerminatedStacksAreBounded(t *testing.T) {
	const ended = 205
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	store := state.New()
	name := func(i int) string {
		return api.StackName("web", api.StackVersion{Major: 1, Minor: uint32(i)}, "aaaaaaaa")
	}
	put := func(i int, unit, status string) {
		s := &api.Stack{
			ID: api.NewID(), Name: name(i), Namespace: "default", Unit: unit, Version: api.StackVersion{Major: 1, Minor: uint32(i)},
			Spec: &api.StackSpec{}, Status: status, StatusSince: now.Add(time.Duration(i) * time.Second),
		}
		applyTo(t, store, &state.DeployStacks{Index: store.Snapshot().LifecycleIndex(), Stacks: []*api.Stack{s}, Jobs: []*api.Job{{ID: s.Name, Namespace: "default"}}})
	}
	put(1000, "web", api.StackReady)
	for i := 1; i <= ended; i++ {
		put(i, "web", api.StackTerminated)
	}
	act := func(i int) []state.Command {
		cmds, _ := control.NewStacks().Act(store.Snapshot(), "default\x00"+name(i), now.Add(time.Hour))
		return cmds
	}
	if cmds := act(1); len(cmds) > 0 {
		t.Errorf("a stack that was not terminated last deletes %d records", len(cmds))
	}
	applyTo(t, store, act(ended)...)
	left := 0
	for s := range store.Snapshot().Stacks("default") {
		if s.Status == api.StackTerminated {
			left++
		}
	}
	if left != 200 {
		t.Errorf("%d terminated stacks are kept, want 200", left)
	}
	for i := 1; i <= ended-200; i++ {
		if store.Snapshot().StackJob("default", name(i)) != nil {
			t.Errorf("the job of the oldest stack %d is kept", i)
		}
	}
	if store.Snapshot().StackJob("default", name(1000)) == nil || store.Snapshot().StackJob("default", name(ended)) == nil {
		t.Error("the job of a ready stack, or of the one that ended last, is gone")
	}
	if cmds := act(ended); len(cmds) > 0 {
		t.Errorf("%d more records are deleted", len(cmds))
	}
}
