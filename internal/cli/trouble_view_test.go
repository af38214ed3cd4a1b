// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// testTroubles are some of every kind that is told in a way of its own.
func testTroubles() []*api.Trouble {
	return []*api.Trouble{
		{
			Kind: api.TroubleExited, Message: `task "http": exited with code 1 after 108ms`, Instance: "server-0", Instances: 3, Group: "server",
			Allocation: allocID, Task: "http", ExitCode: 1, Count: 4, At: testNow.Add(-5 * time.Second), NextAttempt: testNow.Add(25 * time.Second), Log: api.LogStderr,
		},
		{
			Kind: api.TroubleCheckFailed, Message: `check "health" of service "web" fails: HTTP 404`, Instance: "server-1", Instances: 2, Group: "server",
			Allocation: allocID, Task: "http", Check: "health", Service: "web", At: testNow.Add(-2 * time.Minute), Log: api.LogStderr,
		},
		{Kind: api.TroubleNoRoom, Message: "no node can take it: 2 nodes full (memory)", Instance: "cache-0", Instances: 1, Group: "cache", At: testNow},
		{Kind: api.TroubleNodeSilent, Message: "its node rack-9 is out of reach", Instance: "cache-1", Instances: 1, NodeID: nodeID, Allocation: allocID},
		{Kind: api.TroubleStart, Message: `task "http": command not found: /bin/nothing`, Instance: "server-9", Instances: 1, Allocation: allocID, Task: "http", Final: true},
	}
}

func testStats() *api.AllocationStats {
	return &api.AllocationStats{Tasks: map[string]*api.TaskStats{"http": {ResourceUsage: &api.ResourceUsage{
		MemoryStats: &api.MemoryStats{RSS: 33 << 20, Usage: 33 << 20}, CPUStats: &api.CPUStats{TotalTicks: 51.4},
	}}}}
}

func TestATroubleIsSaidAgainOnlyWhenItChanges(t *testing.T) {
	first := *testTroubles()[0]
	later := first
	later.Message, later.Count, later.At = `task "http": exited with code 1 after 93ms`, 5, testNow
	if troubleKey(&first) != troubleKey(&later) {
		t.Errorf("the same trouble, some seconds later, is another one: %q, %q", troubleKey(&first), troubleKey(&later))
	}
	other := first
	other.ExitCode = 2
	if troubleKey(&first) == troubleKey(&other) {
		t.Error("another exit code is no other trouble")
	}
	version := first
	version.JobVersion++
	if troubleKey(&first) == troubleKey(&version) {
		t.Error("the trouble of another version is no other trouble")
	}
}

func TestTroublesAreToldWhenTheyAreKnown(t *testing.T) {
	var out bytes.Buffer
	now := testNow
	list := testTroubles()
	tell := &teller{
		job: "web", now: func() time.Time { return now }, out: newLive(&out), told: map[string]bool{},
		said: func(_ context.Context, t *api.Trouble) []string {
			if t.Log == "" {
				return nil
			}
			return []string{"ImportError: no module"}
		},
	}
	said := func(what string) int { return strings.Count(out.String(), what) }
	tell.take(list[:2]) // an exit, and a check
	tell.tell(t.Context())
	if said("Trouble: server-0") != 1 || said("    | ImportError") != 1 || said("reeve alloc logs -stderr") != 1 {
		t.Errorf("an exit is said at once, with the last lines and what to type; got:\n%s", &out)
	}
	if said("check") != 0 {
		t.Errorf("a check that fails for a moment is a slow start; got:\n%s", &out)
	}
	now = now.Add(checkPatience)
	tell.take(list[:2])
	tell.tell(t.Context())
	tell.tell(t.Context())
	if said("Trouble: server-0") != 1 || said("Trouble: server-1") != 1 {
		t.Errorf("each is said once; got:\n%s", &out)
	}
	again := *list[0]
	again.ExitCode, again.Message = 2, `task "http": exited with code 2`
	tell.take([]*api.Trouble{&again})
	tell.tell(t.Context())
	if said("exited with code 2") != 1 {
		t.Errorf("what changes is said again; got:\n%s", &out)
	}
	out.Reset()
	if !tell.sumUp(t.Context(), list) || said("What is wrong") != 1 || said("- server-0") != 1 || said("- cache-0") != 1 {
		t.Errorf("the summary has them all; got:\n%s", &out)
	}
	if (&teller{}).sumUp(t.Context(), nil) {
		t.Error("nothing was wrong, and it is summed up")
	}
}
