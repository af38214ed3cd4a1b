// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// TestTasksOfAStackFindTheirDependencies warms a stack up, lets a second one print where it finds the
// first, and deploys the first again from its submission.
func TestTasksOfAStackFindTheirDependencies(t *testing.T) {
	m := newMachine(t)
	web := stackJob(m.Reeve, "1.0.0", 10*time.Second)
	web.Stack.Warm = &api.WarmUp{HTTP: []*api.WarmRequests{{Path: "/missing", Requests: 9, Over: 2 * time.Second}}}
	first := m.deployStack(web)
	status, _, err := m.Client.Stacks().Get(t.Context(), first, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &api.WarmProgress{Total: 10, Sent: 10, Failed: 10, Failure: "GET /missing: status 404", Done: true}
	if diff := cmp.Diff(want, status.Warm); diff != "" {
		t.Errorf("warm-up of two instances (-want +got):\n%s", diff)
	}
	if page := m.reeve("stack", "status", first); !strings.Contains(page, "warmed: 10 of 10 requests, 10 failed; the last failure: GET /missing: status 404") {
		t.Errorf("the page of the stack does not show the warm-up:\n%s", page)
	}

	shop := stackJob(m.Reeve, "2.4.0", 0)
	shop.ID, shop.Name, shop.Stack.Expose, shop.Stack.Shift = "shop", "shop", nil, nil
	shop.Stack.Depends = []*api.StackDependency{{Unit: "web", Version: "1.0"}, {Unit: "search", Version: "1.4", Optional: true}}
	shop.Groups[0].Count, shop.Groups[0].Services = ptr(1), nil
	shop.Groups[0].Tasks[0].Config = map[string]any{"command": "/bin/sh", "args": []string{"-c", "env; exec sleep 600"}}
	caller := m.deployStack(shop)
	router, err := m.Client.Status().Router(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	port := router.HTTP[strings.LastIndexByte(router.HTTP, ':')+1:]
	expected := []string{
		"REEVE_DEP_WEB_HOST=1-0.web.default.stack.reeve", "REEVE_DEP_WEB_PORT=" + port,
		"REEVE_DEP_WEB_URL=http://1-0.web.default.stack.reeve:" + port, "REEVE_DEP_WEB_VERSION=1.0",
		"REEVE_STACK=" + caller, "REEVE_UNIT=shop", "REEVE_VERSION=2.4.0",
	}
	m.eventually("the task of shop prints its environment", func(context.Context) error {
		var got []string
		for line := range strings.SplitSeq(m.reeve("alloc", "logs", "-job", caller), "\n") {
			if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "REEVE_DEP_") || slices.Contains([]string{"REEVE_STACK", "REEVE_UNIT", "REEVE_VERSION"}, name) {
				got = append(got, line)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(expected, got); diff != "" {
			return fmt.Errorf("variables (-want +got):\n%s", diff)
		}
		return nil
	})

	m.reeve("stack", "stop", "-now", caller)
	m.reeve("stack", "stop", "-now", first)
	m.inState(first, api.StackTerminated)
	m.reeve("stack", "deploy", "-until", "ready", "-from", "web@1.0.0")
	m.answered("1.0.0")
	m.reeve("stack", "redeploy", "-until", "ready", "-reason", "a second one", first)
	if list := m.reeve("stack", "list", "web"); strings.Count(list, "\nweb--1-0-0--") != 2 {
		t.Errorf("after the redeployment the stacks of web are\n%s", list)
	}
}
