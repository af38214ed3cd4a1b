// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// TestTrafficShiftsFromAStackOutsideOfReeve moves traffic from a server that Reeve does not run to a stack
// of a job, and back, while clients send requests.
func TestTrafficShiftsFromAStackOutsideOfReeve(t *testing.T) {
	m := newMachine(t)
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "Hello from outside, version 1.0.0")
	}))
	defer outside.Close()
	res, err := m.Client.Stacks().Register(t.Context(), &api.RegisterStackRequest{
		Unit: "web", Address: strings.TrimPrefix(outside.URL, "http://"),
		Stack: &api.StackSpec{Version: "1.0.0", Expose: []*api.StackExposure{{Host: "web.test"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	first := res.Stack.Name
	m.inState(first, api.StackReady)
	m.answered("1.0.0")

	h := m.hammer(4)
	next := m.deployStack(stackJob(m.Reeve, "1.1.0", 10*time.Second))
	m.answered("1.0.0", "1.1.0")
	m.shifted("1.1.0", 0)
	m.answered("1.1.0")
	m.Kill()
	m.start()
	m.answered("1.1.0")
	h.stop() // the router was killed with the agent
	h = m.hammer(4)
	m.reeve("stack", "shift", "-to", "1.0.0", "-detach", "web")
	m.reeve("stack", "shift", "web", "finish")
	m.answered("1.0.0")
	m.reeve("stack", "stop", "-now", next)
	m.inState(next, api.StackTerminated)
	m.answered("1.0.0")
	h.stop()
	if lost := h.lost.Load(); lost > 0 {
		t.Errorf("%d of %d requests were lost, the first: %s", lost, h.sent.Load(), h.first)
	}
}
