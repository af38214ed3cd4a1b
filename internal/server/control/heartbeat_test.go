// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

func TestNodeDownEvaluatesEachJobOnce(t *testing.T) {
	w := newWorld(t)
	w.apply(&state.RegisterNode{Node: &api.Node{ID: "n", Status: api.NodeStatusReady}})
	web, db := w.job("web", api.JobTypeService), w.job("db", api.JobTypeService)
	w.place(web, "e1", "a1")
	w.place(web, "e2", "a2")
	w.place(db, "e3", "a3")
	w.report("a3", api.AllocClientComplete)
	evals := control.NodeEvaluations(w.store.Snapshot(), "n", t0)
	if len(evals) != 1 || evals[0].JobID != "web" || evals[0].TriggeredBy != api.TriggerNodeUpdate {
		t.Errorf("evaluations %v, want one of job web", evals)
	}
}

func TestWhatWasPlacedWhileItsNodeWentDownIsNoticed(t *testing.T) {
	w := newWorld(t)
	w.apply(&state.RegisterNode{Node: &api.Node{ID: "n", Status: api.NodeStatusReady}})
	w.apply(&state.UpdateNodeStatus{NodeID: "n", Status: api.NodeStatusDown, Time: t0.UnixNano()})
	w.place(w.job("web", api.JobTypeService), "e1", "a1")
	c := control.NewHeartbeat(control.NewHeartbeats(control.Silence{TTL: time.Second}), slog.New(slog.DiscardHandler))
	touched := ""
	a := w.store.Snapshot().Allocation("a1")
	c.Touched(&state.Change{Table: state.TableAllocations, Op: state.Put, New: a}, func(key string) { touched = key })
	if touched != "n" {
		t.Fatalf("a new allocation touches %q, want its node", touched)
	}
	cmds, _ := c.Act(w.store.Snapshot(), "n", t0)
	if len(cmds) != 1 {
		t.Fatalf("%d commands, want an evaluation of the stranded job", len(cmds))
	}
	w.apply(cmds...)
	if cmds, _ := c.Act(w.store.Snapshot(), "n", t0); len(cmds) != 0 {
		t.Error("acting twice makes a second evaluation")
	}
}
