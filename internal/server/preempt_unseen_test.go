// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// TestPreemptsWhatIsNotCommittedYet evaluates a job while the placement of a less important one
// has taken the room that it needs, but is not in the state yet.
func TestPreemptsWhatIsNotCommittedYet(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		gate := make(chan struct{}) // until it is closed, placements of the job "low" wait
		srv, _, err := server.NewDisturbed(server.Config{Workers: 2, Logger: slog.New(slog.DiscardHandler)}, func(propose server.Propose) server.Propose {
			return func(ctx context.Context, cmds ...state.Command) (uint64, []error, error) {
				for _, cmd := range cmds {
					if c, ok := cmd.(*state.CommitPlacement); ok && c.Placement.Job != nil && c.Placement.Job.ID == "low" {
						<-gate
					}
				}
				return propose(ctx, cmds...)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := srv.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		c := &cluster{TB: t, Server: srv, nodes: map[string]*fakeNode{}}
		defer c.close()
		config := &api.SetSchedulerConfigRequest{}
		config.Preemption = api.PreemptionConfig{ServiceSchedulerEnabled: true}
		if _, err := c.SetSchedulerConfig(c.Context(), config, nil); err != nil {
			t.Fatal(err)
		}
		c.addNode("n0", nil)
		register := func(id string, priority, cpu int) {
			job := serviceJob(id, 1)
			job.Priority = priority
			job.Groups[0].Tasks[0].Resources.CPU = &cpu
			if _, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job}); err != nil {
				t.Fatal(err)
			}
		}
		register("low", 10, 600)
		synctest.Wait() // it has taken room, and waits for the log
		register("high", 50, 600)
		synctest.Wait()
		close(gate)
		c.pass(time.Minute)
		snap := c.Store().Snapshot()
		if len(running(snap, "high")) != 1 || len(running(snap, "low")) != 0 {
			t.Errorf("the important job does not run:\n%s", describe(snap))
		}
	})
}
