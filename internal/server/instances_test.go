// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

func TestKilledInstanceComesStraightBack(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.register(serviceJob("web", 2))
		c.until("two run", func(s *state.Snapshot) bool { return len(running(s, "web")) == 2 })
		before := c.instance("web", "web-1")
		version := c.Store().Snapshot().Job("default", "web").JobModifyIndex
		resp, err := c.KillInstance(c.Context(), "default", "web", "1", false)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Killed.Allocation != before.Allocation {
			t.Errorf("killed %s, not %s", resp.Killed.Allocation, before.Allocation)
		}
		c.within(time.Second, "another one is in its place", func(s *state.Snapshot) bool {
			in := c.instance("web", "web-1")
			return in.State == api.InstanceRunning && in.Allocation != before.Allocation && in.ModificationTag.Epoch == in.Allocation
		})
		if now := c.Store().Snapshot().Job("default", "web").JobModifyIndex; now != version {
			t.Errorf("the job was changed: index %d, was %d", now, version)
		}
		if n := len(running(c.Store().Snapshot(), "web")); n != 2 {
			t.Errorf("%d run", n)
		}
		_, err = c.KillInstance(c.Context(), "default", "web", "7", false)
		if api.CodeOf(err) != api.CodeNotFound || !strings.Contains(err.Error(), "it has web-0, web-1") {
			t.Errorf("an instance that there is not: %v", err)
		}
		_, err = c.KillInstance(c.Context(), "default", "nothing", "0", false)
		if api.CodeOf(err) != api.CodeNotFound {
			t.Errorf("of a job that there is not: %v", err)
		}
	})
}

func (c *cluster) instance(job, name string) *api.Instance {
	all, _, err := c.Instances(c.Context(), "default", job)
	if err != nil {
		c.Fatal(err)
	}
	for _, in := range all {
		if in.Name == name {
			return in
		}
	}
	c.Fatalf("job %s has no instance %s", job, name)
	return nil
}

func TestInstancesOfAllJobs(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.addNode("n2", nil)
		api1, web := serviceJob("api", 1), serviceJob("web", 3)
		web.Domain = "shop"
		c.register(api1)
		c.register(web)
		c.until("four run", func(s *state.Snapshot) bool { return len(running(s, "api"))+len(running(s, "web")) == 4 })
		shop, none := "shop", ""
		for name, test := range map[string]struct {
			filter server.InstanceFilter
			want   int
		}{
			"all":                  {server.InstanceFilter{Namespace: "*"}, 4},
			"of a namespace":       {server.InstanceFilter{Namespace: "default"}, 4},
			"of another namespace": {server.InstanceFilter{Namespace: "other"}, 0},
			"of a job":             {server.InstanceFilter{Namespace: "*", Job: "web"}, 3},
			"of a domain":          {server.InstanceFilter{Namespace: "*", Domain: &shop}, 3},
			"of no domain":         {server.InstanceFilter{Namespace: "*", Domain: &none}, 1},
		} {
			all, index, err := c.AllInstances(c.Context(), test.filter)
			if err != nil || len(all) != test.want || index == 0 {
				t.Errorf("%s: %d instances at %d, %v; want %d", name, len(all), index, err, test.want)
			}
		}
		n := 0
		for _, node := range []string{"n1", "n2"} {
			on, _, err := c.AllInstances(c.Context(), server.InstanceFilter{Namespace: "*", Node: node})
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range on {
				if in.NodeID != node {
					t.Errorf("%s is on %s, not %s", in.Name, in.NodeID, node)
				}
			}
			n += len(on)
		}
		if n != 4 {
			t.Errorf("%d instances on the nodes", n)
		}
		large := serviceJob("large", 1)
		large.Groups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(1 << 20), MemoryMB: ptr(1 << 30)}
		c.register(large)
		c.until("it is blocked", func(s *state.Snapshot) bool { return s.BlockedEvaluation("default", "large") != nil })
		in := c.instance("large", large.Groups[0].Name+"-0")
		if in.State != api.InstanceUnclaimed || !strings.Contains(in.PlacementError, "2 nodes full") || in.Since.IsZero() {
			t.Errorf("without room: %s %q since %v", in.State, in.PlacementError, in.Since)
		}
	})
}

func TestSuspectStandsBesideWhatReplacesIt(t *testing.T) {
	simulate(t, func(c *cluster) {
		n1 := c.addNode("n1", nil)
		c.register(serviceJob("web", 1))
		c.until("it runs", func(s *state.Snapshot) bool { return len(running(s, "web")) == 1 })
		n1.kill()
		c.until("its place is empty", func(*state.Snapshot) bool { return c.instance("web", "web-0").State == api.InstanceUnclaimed })
		all, _, err := c.Instances(c.Context(), "default", "web")
		if err != nil || len(all) != 2 || all[1].Presence != api.PresenceSuspect || all[1].NodeID != "n1" {
			t.Fatalf("beside it: %d rows, the last one %+v, %v", len(all), all[len(all)-1], err)
		}
		c.addNode("n2", nil)
		c.until("another one runs, and the suspect one is given up", func(s *state.Snapshot) bool {
			for a := range s.AllocationsByNode("n1") {
				if a.ClientStatus != api.AllocClientLost {
					return false
				}
			}
			return c.instance("web", "web-0").State == api.InstanceRunning
		})
		all, _, err = c.Instances(c.Context(), "default", "web")
		if err != nil || len(all) != 1 || all[0].NodeID != "n2" || all[0].Presence != api.PresenceOrdinary {
			t.Fatalf("at last: %+v, %v", all, err)
		}
	})
}
