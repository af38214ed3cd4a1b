// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/drivertest"
)

// ofCluster is a message that names all allocations of a cluster.
func ofCluster(cluster string, index uint64, m *api.NodeAllocations) *api.NodeAllocations {
	m.Complete, m.ClusterID, m.Index = true, cluster, index
	for _, a := range m.Allocations {
		a.AllocModifyIndex, a.CreateIndex = index, index
	}
	return m
}

// runs reports the status of what runs on the node; "" if it is not there.
func runs(n *running, id string) string {
	r, err := n.runner(id)
	if err != nil {
		return ""
	}
	return r.Status()
}

func service() *api.Job {
	j := jobOf("service", &api.Task{Name: "t", Driver: "fake"})
	j.SubmitTime = 5
	return j
}

func TestWhatServersOfAnotherClusterDoNotKnowGoesOnAndIsOffered(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		s.cluster = "old"
		n := start()
		s.messages <- ofCluster("old", 500, placed(service(), true, "a", "b"))
		s.until(t, api.AllocClientRunning, 2)

		s.begin("new")
		s.messages <- ofCluster("new", 7, &api.NodeAllocations{})
		time.Sleep(20 * time.Second)
		synctest.Wait()
		s.mu.Lock()
		o := s.offered["a"]
		s.mu.Unlock()
		switch {
		case o == nil:
			t.Fatal("it was not offered")
		case o.ClusterID != "old" || o.Allocation.Job == nil || o.Allocation.ClientStatus != api.AllocClientRunning || len(o.Allocation.TaskStates) != 1:
			t.Errorf("it was offered as %+v", o)
		case runs(n, "a") != api.AllocClientRunning:
			t.Errorf("it is %q", runs(n, "a"))
		}

		// An agent that is started anew has not forgotten it.
		n.stop()
		n = start()
		s.messages <- ofCluster("new", 8, &api.NodeAllocations{})
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "after the agent's restart", api.AllocClientRunning, runs(n, "a"))

		// The servers adopt one, and place something new of the same job's name and
		// version.
		other := service()
		other.SubmitTime = 9
		other.Groups[0].Tasks[0].Env = map[string]string{"NEW": "1"}
		m := ofCluster("new", 9, placed(other, true, "c"))
		m.Allocations = append(m.Allocations, &api.NodeAllocation{Allocation: &api.Allocation{
			ID: "a", Namespace: "default", JobID: "web", Group: "g", Name: "web.g[0]", AllocModifyIndex: 9, CreateIndex: 9, Orphan: true,
			DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
		}})
		s.messages <- m
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "the adopted one", api.AllocClientRunning, runs(n, "a"))
		want(t, "the one that is offered still", api.AllocClientRunning, runs(n, "b"))
		r, _ := n.runner("c")
		want(t, "job of the new one", "1", r.Allocation().Job.Groups[0].Tasks[0].Env["NEW"])
		r, _ = n.runner("a")
		want(t, "job of the adopted one", "", r.Allocation().Job.Groups[0].Tasks[0].Env["NEW"])

		// From now on they know it: what they remove is stopped.
		s.messages <- ofCluster("new", 10, &api.NodeAllocations{})
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, "the one that was removed", "", runs(n, "a"))
		want(t, "the one that was never known", api.AllocClientRunning, runs(n, "b"))
	})
}

func TestWhatIsNewerThanTheServersKnowledgeGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		s.cluster = "one"
		n := start()
		s.messages <- ofCluster("one", 500, placed(service(), true, "a"))
		s.until(t, api.AllocClientRunning, 1)
		s.messages <- ofCluster("one", 400, &api.NodeAllocations{})
		time.Sleep(time.Second)
		synctest.Wait()
		s.mu.Lock()
		if o := s.offered["a"]; o == nil || o.ClusterID != "one" {
			t.Errorf("it was offered as %+v", o)
		}
		s.mu.Unlock()
		want(t, "status", api.AllocClientRunning, runs(n, "a"))
	})
}

// TestServersThatWentBackCannotHaveRemovedWhatCameAfter has servers begin on an
// older copy of their data, and pass the index that the node was told of.
func TestServersThatWentBackCannotHaveRemovedWhatCameAfter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		s.cluster = "one"
		n := start()
		m := ofCluster("one", 500, placed(service(), true, "old", "new"))
		m.Timeline, m.Allocations[0].CreateIndex = "before", 100
		s.messages <- m
		s.until(t, api.AllocClientRunning, 2)

		told := func(when string, want api.Position) {
			t.Helper()
			s.messages <- nil // the stream breaks, and begins again
			time.Sleep(10 * time.Second)
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.told != want {
				t.Errorf("%s the node was told up to %+v, want %+v", when, s.told, want)
			}
		}
		told("at first", api.Position{Timeline: "before", Index: 500})

		// They know the first one, as it was, and say so on a timeline of their own.
		m = ofCluster("one", 600, placed(service(), false, "old"))
		m.Timeline, m.Rewound = "after", true
		m.Allocations[0].CreateIndex, m.Allocations[0].AllocModifyIndex = 100, 110
		s.messages <- m
		time.Sleep(time.Second)
		synctest.Wait()
		s.mu.Lock()
		if o := s.offered["new"]; o == nil || o.ClusterID != "one" || len(s.offered) != 1 {
			t.Errorf("offered are %v", s.offered)
		}
		s.mu.Unlock()
		want(t, "what they do not know", api.AllocClientRunning, runs(n, "new"))
		want(t, "what they know", api.AllocClientRunning, runs(n, "old"))
		told("after they went back", api.Position{Timeline: "after", Index: 100})

		// What they say now counts, although they said something at a later index
		// before they went back.
		m = ofCluster("one", 601, placed(service(), false, "old"))
		m.Allocations[0].DesiredStatus, m.Allocations[0].AllocModifyIndex = api.AllocDesiredStop, 120
		s.messages <- m
		s.until(t, api.AllocClientComplete, 1)

		// What they removed themselves is no stray.
		n.stop()
		n = start()
		told("after the agent's restart", api.Position{Timeline: "after", Index: 601})
		s.messages <- ofCluster("one", 602, &api.NodeAllocations{})
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, "what they removed", "", runs(n, "old"))
		want(t, "what they never knew", api.AllocClientRunning, runs(n, "new"))
	})
}

func TestWhatWasNotOfferedYetIsNotForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		s.cluster = "old"
		n := start()
		s.messages <- ofCluster("old", 500, placed(service(), true, "a"))
		s.until(t, api.AllocClientRunning, 1)
		from := func(when, cluster string) {
			t.Helper()
			s.mu.Lock()
			defer s.mu.Unlock()
			want(t, when+", the node comes from", cluster, s.from)
		}
		s.begin("new")
		s.mu.Lock()
		s.deaf = true
		s.mu.Unlock()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		from("before it offered anything", "old")
		n.stop()
		n = start()
		time.Sleep(time.Second)
		synctest.Wait()
		from("after the agent's restart", "old") // or something would be placed beside what it runs
		s.mu.Lock()
		s.deaf = false
		s.mu.Unlock()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		from("once it is heard", "new")
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.offered["a"] == nil || runs(n, "a") != api.AllocClientRunning {
			t.Errorf("offered are %v; it is %q", s.offered, runs(n, "a"))
		}
	})
}
