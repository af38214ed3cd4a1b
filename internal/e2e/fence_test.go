// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// TestNodeFencesItselfWithoutServers kills the server: the node stops what may
// not run on without it, also when its agent dies meanwhile, and keeps the rest.
func TestNodeFencesItselfWithoutServers(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1)
	node := f.nodes[0]
	fenced := movable("fenced", 1)
	fenced.Groups[0].Disconnect = &api.Disconnect{StopOnClientAfter: ptr(5 * time.Second)}
	f.server.register(fenced)
	f.server.register(movable("free", 1))
	f.server.allocations("fenced", "1 runs", running(1))
	free := f.server.allocations("free", "1 runs", running(1))[0].ID
	at := time.Now()
	f.server.Kill()
	if n := sleepers(node); n != 2 {
		t.Fatalf("%d processes run, want both jobs'", n)
	}
	node.Kill()
	node.start()
	f.eventually("the fenced task is stopped", func() error {
		if n := sleepers(node); n != 1 {
			return fmt.Errorf("%d processes run", n)
		}
		return nil
	})
	took := time.Since(at)
	if took < 4*time.Second { // a heartbeat may have been up to 2/3 s before
		t.Errorf("the fenced task was stopped after %s, before its time", took)
	}
	t.Logf("stop_on_client_after = 5s: stopped %s after the server was killed, across a restart of the agent", took)
	f.server.start()
	f.status(node, api.NodeStatusReady)
	replaced := func(list []*api.AllocationListStub) bool {
		lost := 0
		for _, a := range list {
			if a.ClientStatus == api.AllocClientLost {
				lost++
			}
		}
		return lost == 1 && running(1)(list)
	}
	f.server.allocations("fenced", "the fenced one is lost and replaced", replaced)
	back := time.Now()
	f.eventually("the replacement has run for longer than it may without servers", func() error {
		if d := time.Since(back); d < 6*time.Second {
			return fmt.Errorf("it runs since %s", d)
		}
		return nil
	})
	if list, _, err := f.server.Client.Jobs().Allocations(t.Context(), "fenced", true, nil); err != nil || !replaced(list) {
		t.Errorf("after the server's return the job has %d allocations (%v); want the lost one, and its replacement running", len(list), err)
	}
	if after := f.server.allocations("free", "1 runs", running(1))[0].ID; after != free {
		t.Error("what may run on without servers was replaced")
	}
}

// eventually is the machine's, for what needs no server.
func (f *fleet) eventually(what string, try func() error) {
	f.t.Helper()
	f.nodes[0].eventually(what, func(context.Context) error { return try() })
}
