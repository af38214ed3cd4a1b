// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// blockedOf is the job's blocked evaluation, nil if it has none.
func blockedOf(snap *state.Snapshot, job string) *api.Evaluation {
	for e := range snap.EvaluationsByJob("default", job) {
		if e.Status == api.EvalStatusBlocked {
			return e
		}
	}
	return nil
}

func TestUnblockedByHandIsTriedAgain(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n", nil)
		c.register(serviceJob("web", 11)) // there is room for ten
		c.until("one waits", func(s *state.Snapshot) bool { return blockedOf(s, "web") != nil && len(running(s, "web")) == 10 })
		c.pass(time.Second) // nothing is under way
		before := blockedOf(c.Store().Snapshot(), "web")
		if _, err := c.UnblockEvaluation(c.Context(), before.ID); err != nil {
			c.Fatal(err)
		}
		c.pass(time.Second)
		snap := c.Store().Snapshot()
		after := blockedOf(snap, "web")
		if e := snap.Evaluation(before.ID); e.Status != api.EvalStatusComplete || after == nil || after.PreviousEval != before.ID {
			c.Errorf("the evaluation is %s, followed by %+v; want it complete and followed by another blocked one", e.Status, after)
		}
		if _, err := c.UnblockEvaluation(c.Context(), before.ID); api.CodeOf(err) != api.CodeInvalid {
			c.Errorf("unblocking what has ended: %v, want a refusal", err)
		}
		if _, err := c.UnblockEvaluation(c.Context(), "none"); api.CodeOf(err) != api.CodeNotFound {
			c.Errorf("unblocking what there is not: %v, want not found", err)
		}
	})
}

func TestDeletedEvaluationsAreForgotten(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.register(serviceJob("web", 1))
		c.until("it waits", func(s *state.Snapshot) bool { return blockedOf(s, "web") != nil })
		id := blockedOf(c.Store().Snapshot(), "web").ID
		if _, err := c.DeleteEvaluations(c.Context(), []string{id, "none"}); api.CodeOf(err) != api.CodeNotFound {
			c.Errorf("deleting what there is not: %v, want not found", err)
		}
		if _, err := c.DeleteEvaluations(c.Context(), []string{id}); err != nil {
			c.Fatal(err)
		}
		if s := c.Store().Snapshot(); s.Evaluation(id) != nil || blockedOf(s, "web") != nil {
			c.Errorf("evaluation %s is there after it was deleted", id)
		}
		c.addNode("n", nil)
		c.within(time.Minute, "the periodic comparison finds the hole", func(s *state.Snapshot) bool { return len(running(s, "web")) == 1 })
	})
}

func TestAPausedBrokerKeepsEvaluations(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n", nil)
		config := api.SetSchedulerConfigRequest{}
		config.PauseEvalBroker = true
		if _, err := c.SetSchedulerConfig(c.Context(), &config, nil); err != nil {
			c.Fatal(err)
		}
		c.register(serviceJob("web", 1))
		c.pass(time.Minute)
		if stats := c.Stats(); len(running(c.Store().Snapshot(), "web")) != 0 || stats["evaluations_ready"] != "1" {
			c.Errorf("it runs while the broker is paused, or is lost: %v", stats)
		}
		config.PauseEvalBroker = false
		if _, err := c.SetSchedulerConfig(c.Context(), &config, nil); err != nil {
			c.Fatal(err)
		}
		c.until("it runs", func(s *state.Snapshot) bool { return len(running(s, "web")) == 1 })
	})
}
