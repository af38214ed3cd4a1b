// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/state"
)

func TestNodesThatKeepRefusing(t *testing.T) {
	const threshold, window = 3, time.Minute
	for _, c := range []struct {
		name  string
		every time.Duration // between refusals
		mark  bool
		down  bool
		want  string // eligibility asked for after five refusals; "": nothing
	}{
		{"often enough, to be marked", time.Second, true, false, api.NodeIneligible},
		{"often enough, to be reported only", time.Second, false, false, api.NodeEligible},
		{"too rarely", window, true, false, ""},
		{"a node that is down", time.Second, true, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := *api.DefaultSchedulerConfig()
			config.Rejections = api.RejectionConfig{MarkIneligible: c.mark, NodeThreshold: threshold, NodeWindow: window}
			node := &api.Node{ID: "n", Name: "n", Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible}
			if c.down {
				node.Status = api.NodeStatusDown
			}
			store := state.New()
			store.Apply(1, []state.Command{&state.SetSchedulerConfig{Config: &config}, &state.RegisterNode{Node: node}})
			r := newRejections(&Server{cfg: Config{Logger: slog.New(slog.DiscardHandler)}, store: store})
			var got *state.SetNodeEligibility
			now := time.Unix(1_000_000, 0)
			for range 5 {
				if cmd := r.note(store.Snapshot(), placement.Refusal{NodeID: "n", Reason: "port 80 is taken"}, now); cmd != nil {
					got = cmd
				}
				now = now.Add(c.every)
			}
			switch {
			case c.want == "" && got != nil:
				t.Errorf("asks for %+v, want nothing", got)
			case c.want == "":
			case got == nil || !strings.Contains(got.Message, "efused 3 placements within 1m0s: port 80 is taken"):
				t.Errorf("asks for %+v, want %s with the reason", got, c.want)
			default:
				store.Apply(2, []state.Command{got})
				n := store.Snapshot().Node("n")
				if last := n.Events[len(n.Events)-1]; n.SchedulingEligibility != c.want || last.Message != got.Message {
					t.Errorf("the node is %s, its last event says %q", n.SchedulingEligibility, last.Message)
				}
			}
		})
	}
}
