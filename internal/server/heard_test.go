// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/state"
)

// heartbeats returns a message of another server, about nodes and the marks of their agents.
func heartbeats(nodesAndMarks ...string) *nodeproto.Heartbeats {
	m := &nodeproto.Heartbeats{}
	for i := 0; i < len(nodesAndMarks); i += 2 {
		m.Nodes = append(m.Nodes, nodeproto.PackID(nodesAndMarks[i]))
		m.Agents = append(m.Agents, []byte(nodeproto.AgentDigest(nodesAndMarks[i+1])))
	}
	return m
}

func TestAnotherServersNodesStayReady(t *testing.T) {
	simulate(t, func(c *cluster) {
		n := c.addNode("n1", nil)
		n.kill()
		for range 30 {
			if _, err := c.Heard(c.Context(), heartbeats("n1", "a")); err != nil {
				c.Fatal(err)
			}
			c.pass(10 * time.Second)
			if s := c.Store().Snapshot().Node("n1").Status; s != api.NodeStatusReady {
				c.Fatalf("a node of which another server hears is %s", s)
			}
		}
		c.pass(20 * time.Second)
		if s := c.Store().Snapshot().Node("n1").Status; s != api.NodeStatusDown {
			c.Fatalf("a silent node is %s", s)
		}
		if _, err := c.Heard(c.Context(), heartbeats("n1", "a")); err != nil {
			c.Fatal(err)
		}
		c.pass(time.Second)
		if s := c.Store().Snapshot().Node("n1").Status; s != api.NodeStatusReady {
			c.Fatalf("a node that is heard of again is %s", s)
		}
	})
}

func TestUnknownNodesAndTwinsAreRejectedOneByOne(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil).kill()
		c.addNode("n2", nil).kill()
		if err := c.SpeakFor("n1", "original"); err != nil { // by HTTP
			c.Fatal(err)
		}
		got, err := c.Heard(c.Context(), heartbeats("n3", "x", "n1", "copy", "n2", "x", "n1", "original"))
		if err != nil {
			c.Fatal(err)
		}
		want := map[uint32]api.ErrorCode{0: api.CodeNotFound, 1: api.CodeConflict}
		for _, r := range got.Rejected {
			if code := api.CodeOf(r.Failure.AsError()); want[r.Position] != code {
				c.Errorf("entry %d: %s, want %q", r.Position, code, want[r.Position])
			}
			delete(want, r.Position)
		}
		if len(want) > 0 {
			c.Errorf("not rejected: %v", want)
		}
		if got.Index != c.Store().Index() {
			c.Errorf("index %d, want %d", got.Index, c.Store().Index())
		}
	})
}

func TestMalformedHeartbeatsOfAServerAreRejected(t *testing.T) {
	simulate(t, func(c *cluster) {
		_, err := c.Heard(c.Context(), &nodeproto.Heartbeats{Nodes: [][]byte{{1}}})
		c.refused(err, api.CodeInvalid, "one agent per node")
		many := &nodeproto.Heartbeats{Nodes: make([][]byte, 1<<17), Agents: make([][]byte, 1<<17)}
		_, err = c.Heard(c.Context(), many)
		c.refused(err, api.CodeTooLarge, "at most")
	})
}

// TestADelayedReportDoesNotOverwriteANewerOne covers a report that a server which was cut off
// delivers late.
func TestADelayedReportDoesNotOverwriteANewerOne(t *testing.T) {
	simulate(t, func(c *cluster) {
		n := c.addNode("n1", nil)
		c.register(serviceJob("a", 1))
		c.until("it runs", func(v *state.Snapshot) bool { return len(running(v, "a")) == 1 })
		n.kill()
		id := running(c.Store().Snapshot(), "a")[0].ID
		report := func(session, number uint64, status string) *nodeproto.ReportResult {
			c.Helper()
			content, err := nodeproto.EncodeReport([]*api.Allocation{{ID: id, ClientStatus: status}})
			if err != nil {
				c.Fatal(err)
			}
			got, err := c.TakeReports(c.Context(), &nodeproto.Reports{Reports: []*nodeproto.PassedReport{
				{Node: nodeproto.PackID("n1"), Session: session, Number: number, Content: content},
				{Node: nodeproto.PackID("n9"), Content: content},
				{Node: nodeproto.PackID("n1"), Session: session, Number: number + 1, Content: []byte{0xff}},
			}})
			if err != nil || len(got.Results) != 3 {
				c.Fatalf("results %v, %v; want 3", got, err)
			}
			for i, want := range []api.ErrorCode{1: api.CodeNotFound, 2: api.CodeInvalid} {
				if code := api.CodeOf(got.Results[i].Failure.AsError()); i > 0 && code != want {
					c.Errorf("report %d: %q, want %q", i, code, want)
				}
			}
			return got.Results[0]
		}
		if r := report(5, 2, api.AllocClientFailed); r.Failure != nil || r.Index == 0 {
			c.Fatalf("the newer report: %v", r)
		}
		if r := report(5, 1, api.AllocClientRunning); api.CodeOf(r.Failure.AsError()) != api.CodeConflict {
			c.Errorf("the delayed report: %v, want a conflict", r)
		}
		if s := c.Store().Snapshot().Allocation(id).ClientStatus; s != api.AllocClientFailed {
			c.Errorf("the allocation is %s, want the newer report's failed", s)
		}
		if r := report(6, 1, api.AllocClientFailed); r.Failure != nil {
			c.Errorf("the first report of the next agent: %v", r.Failure.AsError())
		}
	})
}
