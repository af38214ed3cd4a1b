// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// trio is a cluster of three servers in one process.
type trio struct {
	*testing.T
	servers map[string]*server.Server
	lan     *lan
	calls   *exchange
	alive   int // nodes
}

// newTrio starts three servers, of which the first begins the cluster.
func newTrio(t *testing.T, change ...func(id string, c *server.Config)) *trio {
	t.Helper()
	tr := &trio{T: t, servers: map[string]*server.Server{}, lan: newLAN()}
	tr.calls = newExchange(tr.lan)
	for i := range 3 {
		id := fmt.Sprint("server-", i)
		config := server.Config{
			DataDir: t.TempDir(), ServerID: id, Addr: id, Transport: tr.lan.join(id), Bootstrap: i == 0, Logger: slog.New(slog.DiscardHandler), Workers: 4,
			CallLeader: tr.calls.from(id),
		}
		for _, f := range change {
			f(id, &config)
		}
		s, err := server.New(config)
		if err != nil {
			t.Fatal(err)
		}
		tr.calls.add(id, s)
		tr.servers[id] = s
		if i > 0 {
			if err := tr.leader().Replica().AddVoter(t.Context(), id, id); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s started after %s, although a server leads", id, took)
		}
	}
	return tr
}

func (tr *trio) close() {
	for _, s := range tr.servers {
		if err := s.Shutdown(context.Background()); err != nil {
			tr.Error(err)
		}
	}
	// A transfer to a server that ended occupies raft's transport in memory for five seconds.
	time.Sleep(10 * time.Second)
}

// leader waits until a server leads.
func (tr *trio) leader() *server.Server {
	tr.Helper()
	for range 6000 {
		for _, s := range tr.servers {
			if s.IsLeader() {
				return s
			}
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
	}
	tr.Fatal("no server leads after a minute")
	return nil
}

// end stops a server: as planned, or without notice.
func (tr *trio) end(s *server.Server, planned bool) {
	tr.Helper()
	id := s.Replica().ServerID()
	if !planned {
		tr.lan.isolate(id)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		tr.Error(err)
	}
	delete(tr.servers, id)
}

// TestNextLeaderContinues loses the leader in the middle of a deployment. The next leader
// completes it from the state, and no node is marked down because of the change.
func TestNextLeaderContinues(t *testing.T) {
	for _, planned := range []bool{true, false} {
		t.Run(fmt.Sprint("planned=", planned), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				tr := newTrio(t)
				defer tr.close()
				first := tr.leader()
				c := &cluster{TB: t, Server: first, nodes: map[string]*fakeNode{}}
				slow := func(a *api.Allocation, _ *api.Job) []event {
					return []event{{status: api.AllocClientRunning}, {after: 3 * time.Second, status: api.AllocClientRunning, healthy: healthy(true)}}
				}
				for i := range 3 {
					c.addNode(fmt.Sprint("node-", i), slow)
				}
				job := serviceJob("web", 6)
				c.register(job)
				c.until("the first version runs", func(s *state.Snapshot) bool {
					return len(running(s, "web")) == 6 && deploymentStatus(s, "web") == api.DeploymentSuccessful
				})
				c.register(changed(job, "second"))
				c.until("a part is replaced", func(s *state.Snapshot) bool {
					d := s.LatestDeployment("default", "web")
					return d != nil && d.JobVersion == 1 && d.Groups["web"].HealthyAllocs == 2
				})
				for _, n := range c.nodes {
					n.kill()
				}
				tr.end(first, planned)

				next := tr.leader()
				c = &cluster{TB: t, Server: next, nodes: map[string]*fakeNode{}}
				for i := range 3 {
					c.addNode(fmt.Sprint("node-", i), slow)
				}
				c.until("the deployment is complete", func(s *state.Snapshot) bool {
					return deploymentStatus(s, "web") == api.DeploymentSuccessful && len(running(s, "web")) == 6
				})
				c.pass(time.Minute)
				snap := c.Store().Snapshot()
				for n := range snap.Nodes() {
					if n.Status != api.NodeStatusReady {
						t.Errorf("node %s is %s after the change of leader", n.ID, n.Status)
					}
					for _, e := range n.Events {
						if strings.Contains(e.Message, "heartbeat") {
							t.Errorf("node %s: %s", n.ID, e.Message)
						}
					}
				}
				for a := range snap.Allocations() {
					if a.ClientStatus == api.AllocClientLost {
						t.Errorf("allocation %s was lost", a.ID)
					}
				}
				for _, n := range c.nodes {
					n.kill()
				}
				for id, s := range tr.servers {
					if leader := s.Leader(); leader != next.Replica().ServerID() {
						t.Errorf("%s takes %q for the leader's address", id, leader)
					}
				}
			})
		})
	}
}

// TestSilentNodesGetAGrace has the nodes silent for the whole election. The next leader
// gives each a whole period.
func TestSilentNodesGetAGrace(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t)
		defer tr.close()
		first := tr.leader()
		c := &cluster{TB: t, Server: first, nodes: map[string]*fakeNode{}}
		n := c.addNode("node", nil)
		n.kill()
		c.pass(12 * time.Second) // of the 14 that a node may be silent
		tr.end(first, false)
		next := tr.leader()
		c = &cluster{TB: t, Server: next, nodes: map[string]*fakeNode{}}
		c.pass(12 * time.Second)
		if status := c.Store().Snapshot().Node("node").Status; status != api.NodeStatusReady {
			t.Errorf("the node is %s 12 s after the change of leader", status)
		}
		c.until("the node is down", func(s *state.Snapshot) bool { return s.Node("node").Status == api.NodeStatusDown })
	})
}

// TestLeadershipLostWhilePlacing cuts the leader off while it places. It acknowledges
// nothing that is not committed, its term ends, and the others have all that it
// acknowledged.
func TestLeadershipLostWhilePlacing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t)
		defer tr.close()
		first := tr.leader()
		c := &cluster{TB: t, Server: first, nodes: map[string]*fakeNode{}}
		c.addNode("node", nil)
		var acknowledged []string
		stop := make(chan struct{})
		registered := make(chan struct{})
		go func() {
			defer close(stop)
			for i := 0; ; i++ {
				name := fmt.Sprint("job-", i)
				_, err := first.RegisterJob(t.Context(), &api.RegisterJobRequest{Job: serviceJob(name, 1)})
				if err != nil {
					var e *api.Error
					if !errors.As(err, &e) || e.Code != api.CodeUnavailable {
						t.Errorf("a write on a server that lost leadership: %v", err)
					}
					return
				}
				acknowledged = append(acknowledged, name)
				if i == 20 {
					close(registered)
				}
			}
		}()
		<-registered
		tr.lan.isolate(first.Replica().ServerID())
		<-stop
		for first.IsLeader() {
			c.pass(10 * time.Millisecond)
		}
		for _, n := range c.nodes {
			n.kill()
		}
		next := tr.leader()
		for _, name := range acknowledged {
			if next.Store().Snapshot().Job("default", name) == nil {
				t.Errorf("%s was acknowledged, and the next leader lacks it", name)
			}
		}
	})
}
