// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/network"
)

// linkLine is what an agent logs when its node has connected to a server.
var linkLine = regexp.MustCompile(`the node is connected to a server.*server"?[=:] ?"?([0-9.]+):`)

// serverOf returns the server to which the node of an agent is connected.
func (m *members) serverOf(node *machine, not ...*machine) (server *machine) {
	m.t.Helper()
	node.eventually("the node is connected to a server", func(context.Context) error {
		lines := linkLine.FindAllStringSubmatch(node.Output(), -1)
		if len(lines) == 0 {
			return fmt.Errorf("its log does not say so")
		}
		i := slices.IndexFunc(m.net.Hosts(), func(h *network.Host) bool { return h.Addr == lines[len(lines)-1][1] })
		if i < 0 || i >= len(m.all) || slices.Contains(not, m.all[i]) {
			return fmt.Errorf("it is connected to %s", lines[len(lines)-1][1])
		}
		server = m.all[i]
		return nil
	})
	return server
}

// apart adds a node of its own machine and class.
func (m *members) apart() (node *machine, id string) {
	m.t.Helper()
	node = m.on(m.spare, "host-4", "-join", m.net.Hosts()[0].Addr, "-join-token-file", m.token("node"), "-node-class", "apart")
	node.start()
	m.all[0].eventually("the node is ready", func(ctx context.Context) error {
		list, _, err := m.all[0].Client.Nodes().List(ctx, nil)
		for _, n := range list {
			if n.Name == "host-4" && n.Status == api.NodeStatusReady {
				id = n.ID
				return nil
			}
		}
		return fmt.Errorf("nodes %+v: %v", list, err)
	})
	return node, id
}

func apartSleeper(id string, count int) *api.Job {
	job := sleeper(id, count)
	job.Constraints = []*api.Constraint{{LTarget: "${node.class}", RTarget: "apart", Operand: "="}}
	return job
}

// stayedUp fails if the node was ever marked as lost.
func stayedUp(t *testing.T, seen *machine, id string) {
	t.Helper()
	n, _, err := seen.Client.Nodes().Get(t.Context(), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n.Status != api.NodeStatusReady {
		t.Errorf("the node is %s: %s", n.Status, n.StatusDescription)
	}
	for _, e := range n.Events {
		if strings.Contains(e.Message, "heartbeat") {
			t.Errorf("the node was lost: %+v", e)
		}
	}
}

// TestANodeDoesNotNoticeTheLossOfItsServer kills the server that a node is connected to: its
// tasks keep their processes, and it receives a new allocation through another server. The first
// victim is a follower, the second one the leader.
func TestANodeDoesNotNoticeTheLossOfItsServer(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	node, id := m.apart()
	m.all[0].register(apartSleeper("first", 2))
	m.all[0].allocations("first", "runs", running(2))
	tasks := node.Processes()
	for _, kind := range []string{"follower", "leader"} {
		victim := m.serverOf(node)
		if leader := m.leader(victim); (leader == victim) != (kind == "leader") {
			to := m.all[slices.Index(m.all, victim)]
			if kind == "follower" {
				to = m.other(victim)
			}
			m.transfer(leader, to)
		}
		victim.Kill()
		began := time.Now()
		rest := m.other(victim)
		later := apartSleeper("after-"+kind, 1)
		rest.eventually("a job is registered", func(ctx context.Context) error {
			_, err := rest.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: later})
			return err
		})
		rest.allocations(later.ID, "runs", running(1))
		t.Logf("%s killed: a new allocation runs after %s", kind, time.Since(began).Round(time.Millisecond))
		m.serverOf(node, victim)
		for _, pid := range tasks {
			if !slices.Contains(node.Processes(), pid) {
				t.Errorf("%s killed: process %d of a task ended", kind, pid)
			}
		}
		victim.start()
		victim.eventually("the server is back", func(ctx context.Context) error { return m.allVote(ctx, victim) })
	}
	stayedUp(t, m.all[0], id)
}

// transfer makes another server the leader.
func (m *members) transfer(leader, to *machine) {
	m.t.Helper()
	address := m.net.Hosts()[slices.Index(m.all, to)].Addr
	leader.eventually("leadership is transferred", func(ctx context.Context) error {
		list, err := leader.Client.Servers().List(ctx)
		if err != nil {
			return err
		}
		for _, s := range list {
			if strings.HasPrefix(s.Address, address+":") {
				if s.Leader {
					return nil
				}
				_, err = leader.Client.Servers().Transfer(ctx, s.ID)
				return fmt.Errorf("transferred: %v", err)
			}
		}
		return fmt.Errorf("no server at %s", address)
	})
}

// TestANodeLeavesAServerThatIsCutOffFromTheLeader separates a follower from the other servers, and
// not from its node. The node finds another server before it counts as lost.
func TestANodeLeavesAServerThatIsCutOffFromTheLeader(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	node, id := m.apart()
	cut := m.serverOf(node)
	if leader := m.leader(cut); leader == cut {
		m.transfer(leader, m.other(cut))
	}
	host := m.net.Hosts()[slices.Index(m.all, cut)]
	for _, h := range m.net.Hosts()[:3] {
		if h != host {
			if err := host.Block(h); err != nil {
				t.Fatal(err)
			}
		}
	}
	began := time.Now()
	m.serverOf(node, cut)
	t.Logf("the node is connected to another server after %s", time.Since(began).Round(time.Millisecond))
	rest := m.other(cut)
	rest.register(apartSleeper("web", 1))
	rest.allocations("web", "runs", running(1))
	stayedUp(t, rest, id)
}
