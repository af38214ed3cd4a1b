// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// What cannot be placed is UNCLAIMED, says why for each of its instances, and is
// placed as soon as it can be: by the event, not by a sweep.
func TestPlacementErrorsAreSaidAndTriedAgain(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		for name, test := range map[string]struct {
			change func(*api.Job)
			want   string
		}{
			"large": {func(j *api.Job) { j.Groups[0].Tasks[0].Resources.MemoryMB = ptr(20000) }, "waits for room: 1 node full (memory)"},
			"driver": {func(j *api.Job) {
				j.Groups[0].Tasks[0].Driver, j.Groups[0].Tasks[0].Config = "exec", map[string]any{"command": "true"}
			}, "waits for room: 1 node may not run it (missing drivers: exec)"},
			"tagged": {func(j *api.Job) {
				j.Groups[0].Constraints = []*api.Constraint{{LTarget: "${meta.gpu}", RTarget: "yes", Operand: "="}}
			}, "waits for room: 1 node may not run it (${meta.gpu} = yes)"},
			"elsewhere": {func(j *api.Job) { j.Datacenters = []string{"dc9"} }, `waits for room: no node of pool "default" is ready in the job's datacenters`},
		} {
			job := serviceJob(name, 2)
			test.change(job)
			c.register(job)
			c.until(name+" is blocked", func(s *state.Snapshot) bool { return s.BlockedEvaluation("default", name) != nil })
			for _, instance := range []string{"web-0", "web-1"} {
				in := c.instance(name, instance)
				if diff := cmp.Diff([]any{api.InstanceUnclaimed, test.want, false, "", 0}, []any{in.State, in.PlacementError, in.Routable, in.Address, len(in.Ports)}); diff != "" {
					t.Errorf("%s of %s (-want +got):\n%s", instance, name, diff)
				}
			}
		}
		c.connect(&api.Node{
			ID: "n2", Name: "n2", Datacenter: "dc9", NodePool: "default",
			Attributes: map[string]string{"kernel.name": "linux", "driver.exec": "1", "driver.mock_driver": "1"}, Meta: map[string]string{"gpu": "yes"},
			Drivers: map[string]*api.DriverStatus{"exec": {Detected: true, Healthy: true}, "mock_driver": {Detected: true, Healthy: true}},
			Resources: &api.NodeResources{
				CPU: api.NodeCPU{CPUShares: 10000}, Memory: api.NodeMemory{MemoryMB: 65536}, Disk: api.NodeDisk{DiskMB: 102400},
				Networks: []*api.Network{{Mode: "host", Device: "lo", IP: "127.0.0.1"}},
			},
		}, nil)
		c.within(time.Second, "all run on the node that came", func(s *state.Snapshot) bool {
			n := 0
			for _, job := range []string{"large", "driver", "tagged", "elsewhere"} {
				n += len(running(s, job))
			}
			return n == 8
		})
		for _, job := range []string{"large", "driver", "tagged", "elsewhere"} {
			if in := c.instance(job, "web-1"); in.PlacementError != "" || in.State != api.InstanceRunning || in.NodeID != "n2" {
				t.Errorf("%s is %s on %s: %q", job, in.State, in.NodeID, in.PlacementError)
			}
		}
	})
}

// Where there is room for some, the lowest indexes have it; and again when one of
// them is free.
func TestTheLowestIndexesComeFirst(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		job := serviceJob("web", 5)
		job.Groups[0].Tasks[0].Resources.CPU = ptr(300) // of 1000
		c.register(job)
		states := func() (all []string) {
			list, _, err := c.Instances(c.Context(), "default", "web")
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range list {
				all = append(all, in.Name+" "+in.State)
			}
			return all
		}
		want := []string{"web-0 RUNNING", "web-1 RUNNING", "web-2 RUNNING", "web-3 UNCLAIMED", "web-4 UNCLAIMED"}
		c.until("three run", func(s *state.Snapshot) bool { return len(running(s, "web")) == 3 })
		if diff := cmp.Diff(want, states()); diff != "" {
			t.Errorf("at first (-want +got):\n%s", diff)
		}
		before := c.instance("web", "web-0").Allocation
		if _, err := c.KillInstance(c.Context(), "default", "web", "0", false); err != nil {
			t.Fatal(err)
		}
		c.within(time.Minute, "three run again", func(s *state.Snapshot) bool {
			return len(running(s, "web")) == 3 && c.instance("web", "web-0").Allocation != before && c.instance("web", "web-0").State == api.InstanceRunning
		})
		if diff := cmp.Diff(want, states()); diff != "" {
			t.Errorf("after one was killed (-want +got):\n%s", diff)
		}
	})
}
