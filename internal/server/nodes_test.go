// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

func TestUnknownNodesMustRegister(t *testing.T) {
	simulate(t, func(c *cluster) {
		_, err := c.Heartbeat(c.Context(), "n2")
		c.refused(err, api.CodeNotFound, "register")
		_, err = c.UpdateAllocations(c.Context(), "n2", []*api.Allocation{{ID: "x", ClientStatus: "running"}})
		c.refused(err, api.CodeNotFound, "register")
		err = c.NodeStream(c.Context(), "n2", api.Position{}, nil)
		c.refused(err, api.CodeNotFound, "register")
	})
}

func TestSilentNodeGoesDownAndHeartbeatRevivesIt(t *testing.T) {
	simulate(t, func(c *cluster) {
		n := c.addNode("n1", nil)
		c.pass(time.Hour) // it heartbeats
		if s := c.Store().Snapshot().Node("n1").Status; s != api.NodeStatusReady {
			c.Fatalf("a node that heartbeats is %s", s)
		}
		n.kill()
		c.pass(16 * time.Second)
		if s := c.Store().Snapshot().Node("n1").Status; s != api.NodeStatusDown {
			c.Fatalf("a silent node is %s after 16s, want it down", s)
		}
		res, err := c.Heartbeat(c.Context(), "n1")
		if err != nil || res.Status != api.NodeStatusReady {
			c.Errorf("heartbeat: %+v, %v; want it ready again", res, err)
		}
	})
}

func TestStreamSendsAllThenChanges(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.register(serviceJob("a", 2))
		c.until("2 run", func(s *state.Snapshot) bool { return len(running(s, "a")) == 2 })
		c.pass(time.Minute)

		ctx, cancel := context.WithCancel(c.Context())
		messages := make(chan *api.NodeAllocations, 10)
		var quiet atomic.Int64 // signs of life
		done := make(chan error, 1)
		go func() {
			done <- c.NodeStream(ctx, "n1", api.Position{}, func(m *server.NodeMessage) error {
				if m == nil {
					quiet.Add(1)
					return nil
				}
				messages <- m.API()
				return nil
			})
		}()
		first := <-messages
		if !first.Complete || len(first.Allocations) != 2 || len(first.Jobs) != 1 {
			c.Fatalf("first message: %+v, want it complete, with 2 allocations and their job once", first)
		}
		if a := first.Allocations[0]; a.Job != nil || a.Metrics != nil {
			c.Error("allocations are sent with job or metrics")
		}
		c.register(serviceJob("b", 3))
		next := <-messages
		if next.Complete || len(next.Allocations) != 3 || len(next.Jobs) != 1 {
			c.Fatalf("after another job: %+v; want its 3 allocations and it once", next)
		}
		c.pass(time.Minute)
		if len(messages) > 0 {
			c.Errorf("what the node itself reported comes back to it: %+v", <-messages)
		}
		if n := quiet.Load(); n < 5 || n > 6 {
			c.Errorf("a quiet minute has %d signs of life, want one every 10 s", n)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			c.Errorf("stream ended with %v", err)
		}
	})
}

func TestIneligibleNodeGetsNothing(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		if _, err := c.SetNodeEligibility(c.Context(), "n1", api.NodeIneligible); err != nil {
			c.Fatal(err)
		}
		c.register(serviceJob("web", 1))
		c.pass(time.Minute)
		if got := len(running(c.Store().Snapshot(), "web")); got != 0 {
			c.Fatalf("%d instances run on an ineligible node", got)
		}
		if _, err := c.SetNodeEligibility(c.Context(), "n1", api.NodeEligible); err != nil {
			c.Fatal(err)
		}
		c.within(time.Second, "runs", func(s *state.Snapshot) bool { return len(running(s, "web")) == 1 })
		_, err := c.SetNodeEligibility(c.Context(), "n1", "maybe")
		c.refused(err, api.CodeInvalid, "maybe")
	})
}
