// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// rollingImages deploys a job to a node per instance, and begins a rollout whose instances need a minute each. The
// first instance has pinned its image. It returns the nodes of the instances in the order of their indexes.
func (c *cluster) rollingImages(count int) (nodes []string, next *api.Job) {
	c.Helper()
	for i := range count {
		c.connect(containerNode(fmt.Sprintf("n%02d", i)), func(_ *api.Allocation, job *api.Job) []event {
			wait := time.Duration(0)
			if job.Version > 0 {
				wait = time.Minute
			}
			return []event{{status: api.AllocClientRunning}, {after: wait, status: api.AllocClientRunning, healthy: healthy(true)}}
		})
	}
	job := pinnedJob(count)
	job.Constraints = []*api.Constraint{{Operand: "distinct_hosts", RTarget: "true"}}
	job.Groups[0].Update.HealthyDeadline, job.Groups[0].Update.ProgressDeadline = ptr(3*time.Minute), ptr(4*time.Minute)
	c.register(job)
	c.until("deployed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
	nodes = make([]string, count)
	for _, a := range running(c.Store().Snapshot(), "web") {
		nodes[a.Index()] = a.NodeID
	}
	next = job.Copy()
	next.Groups[0].Tasks[0].Env = map[string]string{"VERSION": "1"}
	c.register(next)
	c.until("rolling", func(s *state.Snapshot) bool { return len(ofVersion(s, 1)) == 1 })
	if got := c.prefetching(nodes); len(got) > 0 {
		c.Errorf("before the first instance has found the digest, %v prefetch", got)
	}
	c.pinFirst()
	c.pass(time.Second)
	return nodes, next
}

// ofVersion returns the allocations of a version of the job web.
func ofVersion(s *state.Snapshot, version uint64) (list []*api.Allocation) {
	for a := range s.AllocationsByJob("default", "web") {
		if a.JobVersion() == version {
			list = append(list, a)
		}
	}
	return list
}

// pinFirst pins the image of the newest version, as its first instance does.
func (c *cluster) pinFirst() {
	c.Helper()
	a := ofVersion(c.Store().Snapshot(), 1)[0]
	if _, err := c.PinImage(c.Context(), a.NodeID, &api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: pinnedImage, Digest: digestOf("b")}); err != nil {
		c.Fatal(err)
	}
}

// prefetching returns the indexes of the nodes that pull an image ahead, as a new stream of each node says.
func (c *cluster) prefetching(nodes []string) (all []int) {
	c.Helper()
	for i, node := range nodes {
		f, err := c.OpenNodeFeed(node, api.Position{}, func() {})
		if err != nil {
			c.Fatal(err)
		}
		m := f.Next().API()
		f.Close()
		if !m.HasPrefetches {
			c.Errorf("the first message to %s says nothing of prefetches", node)
		}
		for _, p := range m.Prefetches {
			if p.JobID != "web" || p.JobVersion != 1 || p.Group != "web" || len(p.Pins) != 1 || *p.Pins[0] != (api.PrefetchPin{Task: "server", Image: pinnedImage, Digest: digestOf("b")}) {
				c.Errorf("%s prefetches %+v", node, p)
			}
			if !slices.ContainsFunc(m.Jobs, func(j *api.Job) bool { return j.ID == "web" && j.Version == 1 }) {
				c.Errorf("the message to %s lacks the version whose images it names", node)
			}
			all = append(all, i)
		}
	}
	return all
}

// TestNodesOfTheNextStepsPrefetch watches the window move with the rollout, and close with it.
func TestNodesOfTheNextStepsPrefetch(t *testing.T) {
	simulate(t, func(c *cluster) {
		nodes, _ := c.rollingImages(12)
		expect := func(when string, from, to int) {
			t.Helper()
			var want []int
			for i := from; i < to; i++ {
				want = append(want, i)
			}
			if got := c.prefetching(nodes); !slices.Equal(got, want) {
				t.Errorf("%s the nodes of the instances %v prefetch; want %v", when, got, want)
			}
		}
		expect("during the first step", 0, 9)
		c.until("the second step", func(s *state.Snapshot) bool { return len(ofVersion(s, 1)) == 2 })
		c.pass(time.Second)
		expect("during the second step", 1, 10)
		c.until("the last step", func(s *state.Snapshot) bool { return len(ofVersion(s, 1)) == 12 })
		c.pass(time.Second)
		expect("during the last step", 11, 12)
		c.until("deployed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
		c.pass(time.Second)
		expect("at the end", 0, 0)
	})
}

// TestPrefetchesEndWithTheirRollout fails a deployment, and stops a job.
func TestPrefetchesEndWithTheirRollout(t *testing.T) {
	for name, end := range map[string]func(c *cluster){
		"failed": func(c *cluster) {
			if _, err := c.FailDeployment(c.Context(), c.Store().Snapshot().LatestDeployment("default", "web").ID); err != nil {
				c.Fatal(err)
			}
		},
		"stopped": func(c *cluster) {
			if _, err := c.DeregisterJob(c.Context(), "default", "web", server.DeregisterOptions{}); err != nil {
				c.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(c *cluster) {
				nodes, _ := c.rollingImages(3)
				if got := c.prefetching(nodes); len(got) != 3 {
					t.Fatalf("%v prefetch", got)
				}
				end(c)
				c.pass(time.Second)
				if got := c.prefetching(nodes); len(got) > 0 {
					t.Errorf("%v still prefetch", got)
				}
			})
		})
	}
}

// TestStreamsTellOfPrefetches follows an open stream: a change arrives without a new connection, and changes nothing
// else.
func TestStreamsTellOfPrefetches(t *testing.T) {
	simulate(t, func(c *cluster) {
		nodes, _ := c.rollingImages(3)
		f, err := c.OpenNodeFeed(nodes[2], api.Position{}, func() {})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		first := f.Next().API()
		if m := f.Next(); len(first.Prefetches) != 1 || m != nil {
			t.Fatalf("the first message has %d prefetches", len(first.Prefetches))
		}
		if _, err := c.FailDeployment(c.Context(), c.Store().Snapshot().LatestDeployment("default", "web").ID); err != nil {
			t.Fatal(err)
		}
		c.pass(time.Second)
		m := f.Next().API()
		if !m.HasPrefetches || len(m.Prefetches) > 0 || m.Complete || len(m.Allocations) > 0 || m.Index < first.Index {
			t.Errorf("the next message is %+v", m)
		}
	})
}
