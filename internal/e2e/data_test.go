// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// TestDataFollowsADrainedInstance drains the node of an instance with a
// migrating disk, and looks whether it goes on where it was on the other one.
func TestDataFollowsADrainedInstance(t *testing.T) {
	first := newMachine(t)
	second := unstarted(t)
	second.Args = []string{"-client", "-servers", "http://" + first.Addr, "-node", "second"}
	second.start()
	first.eventually("both nodes are ready", func(ctx context.Context) error {
		nodes, _, err := first.Client.Nodes().List(ctx, nil)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if n.Status != api.NodeStatusReady {
				return fmt.Errorf("node %s is %s", n.Name, n.Status)
			}
		}
		if len(nodes) != 2 {
			return fmt.Errorf("%d nodes", len(nodes))
		}
		return nil
	})
	script := `n=$(($(cat local/n 2>/dev/null || echo 0) + 1)); echo $n > local/n; echo counted to $n; exec sleep 3600`
	first.register(&api.Job{
		ID: "counter", Name: "counter", Type: api.JobTypeService, Datacenters: []string{"*"},
		Groups: []*api.Group{{
			Name: "counter", EphemeralDisk: &api.EphemeralDisk{Sticky: new(true), Migrate: new(true)},
			Migrate: &api.Migrate{MinHealthyTime: new(time.Duration(0))},
			Update:  &api.Update{MinHealthyTime: new(time.Duration(0))},
			Tasks: []*api.Task{{
				Name: "count", Driver: "raw_exec", Config: map[string]any{"command": "/bin/sh", "args": []string{"-c", script}},
				Resources: &api.Resources{CPU: new(50), MemoryMB: new(32)},
			}},
		}},
	})
	before := first.allocations("counter", "it runs", running(1))[0]
	counted(first, before.ID, "counted to 1")
	if _, err := first.Client.Nodes().Drain(t.Context(), before.NodeID, &api.NodeDrainRequest{DrainSpec: &api.DrainSpec{Deadline: time.Minute}}); err != nil {
		t.Fatal(err)
	}
	moved := first.allocations("counter", "it runs elsewhere", func(list []*api.AllocationListStub) bool {
		for _, a := range list {
			if a.NodeID != before.NodeID && a.ClientStatus == api.AllocClientRunning {
				return true
			}
		}
		return false
	})
	for _, a := range moved {
		if a.NodeID != before.NodeID {
			counted(first, a.ID, "counted to 2")
		}
	}
}

// counted waits until the task has said so.
func counted(m *machine, alloc, want string) {
	m.t.Helper()
	m.eventually(want, func(ctx context.Context) error {
		file, err := m.Client.FS().Cat(ctx, alloc, "alloc/logs/count.stdout.0")
		if err != nil {
			return err
		}
		defer file.Close()
		text, err := io.ReadAll(file)
		if err == nil && !strings.Contains(string(text), want) {
			err = fmt.Errorf("it says %q", text)
		}
		return err
	})
}
