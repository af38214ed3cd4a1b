// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// What Nomad's command line does with a node that runs something: it adds up what
// allocations hold, and drains the node with the request that it always sends.
func TestForeignClientLooksAtANodeAndDrainsIt(t *testing.T) {
	f := newForeign(t)
	f.registerJob(foreignJob("web", "one", 2))
	id := f.running("web", 2, 0)[0].NodeID
	on, _, err := f.api.Nodes().Allocations(id, nil)
	if err != nil || len(on) != 2 {
		t.Fatalf("the node's allocations: %d, %v", len(on), err)
	}
	cpu, memory, disk := 0, 0, 0
	for _, a := range on {
		cpu, memory, disk = cpu+*a.Resources.CPU, memory+*a.Resources.MemoryMB, disk+*a.Resources.DiskMB
	}
	if cpu != 2 || memory != 20 || disk != 20 {
		t.Errorf("they hold %d MHz, %d MB and %d MB of disk; want 2, 20 and 20", cpu, memory, disk)
	}
	stats, err := f.api.Nodes().Stats(id, nil)
	if err != nil || stats.CPUTicksConsumed == 0 || len(stats.CPU) == 0 || stats.Memory.Total == 0 {
		t.Errorf("the machine's statistics are %+v, %v", stats, err)
	}
	none, _, err := f.api.Nodes().Allocations("99999999-2222-3333-4444-555555555555", nil)
	if err != nil || len(none) != 0 {
		t.Errorf("the allocations of an unknown node: %v, %v", none, err)
	}
	opts := &nomad.DrainOptions{DrainSpec: &nomad.DrainSpec{Deadline: -1}, MarkEligible: true}
	if _, err := f.api.Nodes().UpdateDrainOpts(id, opts, nil); err != nil {
		t.Fatalf("drain: %v", err)
	}
	f.eventually("the node is drained and takes nothing new", func(context.Context) error {
		n, _, err := f.api.Nodes().Info(id, nil)
		if err == nil && (n.LastDrain == nil || n.LastDrain.Status != nomad.DrainStatusComplete || n.SchedulingEligibility != nomad.NodeSchedulingIneligible) {
			err = fmt.Errorf("it is %s, its drain %+v", n.SchedulingEligibility, n.LastDrain)
		}
		return err
	})
}

// Its command follows a log from its end, and means what is there.
func TestForeignClientFollowsALogFromItsNewestFile(t *testing.T) {
	f := newForeign(t)
	f.registerJob(foreignJob("web", "one", 1))
	stub := f.running("web", 1, 0)[0]
	alloc := must2(f.api.Allocations().Info(stub.ID, nil))(t)
	f.logsSay(alloc, "one")
	stop := make(chan struct{})
	defer close(stop)
	frames, errs := f.api.AllocFS().Logs(alloc, true, "main", "stdout", nomad.OriginEnd, 0, stop, nil)
	select {
	case frame := <-frames:
		if text := strings.TrimSpace(string(frame.Data)); text != "one" {
			t.Errorf("following begins with %q", text)
		}
	case err := <-errs:
		t.Fatal(err)
	case <-wait.Limit(t, patience):
		t.Fatal("following a log shows nothing of what it holds")
	}
	body, err := f.api.AllocFS().ReadAt(alloc, "alloc/logs/main.stdout.0", 1, -1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if text, err := io.ReadAll(body); err != nil || string(text) != "ne\n" {
		t.Errorf("the rest of the file is %q, %v", text, err)
	}
}

func must2[T any](v T, _ *nomad.QueryMeta, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestForeignClientPlansOnlyWhatChanges(t *testing.T) {
	f := newForeign(t)
	f.registerJob(foreignJob("web", "one", 1))
	same, _, err := f.api.Jobs().Plan(foreignJob("web", "one", 1), true, nil)
	if err != nil || same.Diff.Type != "None" || len(same.Diff.Fields)+len(same.Diff.Objects) != 0 {
		t.Fatalf("the plan of what runs is %+v, %v", same.Diff, err)
	}
	plan, _, err := f.api.Jobs().Plan(foreignJob("web", "one", 2), true, nil)
	if err != nil || len(plan.Diff.TaskGroups) != 1 {
		t.Fatalf("the plan is %+v, %v", plan, err)
	}
	g := plan.Diff.TaskGroups[0]
	for _, field := range g.Fields {
		if field.Type == "None" || field.Name != "Count" {
			t.Errorf("the plan of another count shows %+v", field)
		}
	}
}

// Whoever begins at index 0 is told everything that is kept, and a quiet stream
// brings nothing.
func TestForeignClientReplaysEvents(t *testing.T) {
	f := newForeign(t)
	f.registerJob(foreignJob("web", "one", 1))
	f.running("web", 1, 0)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stream, err := f.api.EventStream().Stream(ctx, map[nomad.Topic][]string{nomad.TopicJob: {"web"}, "ACLToken": nil}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	batch := <-stream
	if batch.Err != nil || len(batch.Events) == 0 || batch.Events[0].Type != "JobRegistered" {
		t.Errorf("the stream begins with %+v", batch)
	}
	if _, err := f.api.EventStream().Stream(ctx, map[nomad.Topic][]string{"Weather": nil}, 0, nil); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("a topic that there is not: %v", err)
	}
}

func TestForeignClientStopsWhatIsGone(t *testing.T) {
	f := newForeign(t)
	if eval, _, err := f.api.Jobs().Deregister("none", true, nil); err != nil || eval != "" {
		t.Errorf("stopping what is not there: %q, %v", eval, err)
	}
	if none, _, err := f.api.Evaluations().Allocations("99999999-2222-3333-4444-555555555555", nil); err != nil || len(none) != 0 {
		t.Errorf("the allocations of an unknown evaluation: %v, %v", none, err)
	}
	summary, _, err := f.api.Operator().MetricsSummary(nil)
	if err != nil || len(summary.Gauges) == 0 {
		t.Errorf("metrics: %+v, %v", summary, err)
	}
	text, err := f.api.Operator().Metrics(&nomad.QueryOptions{Params: map[string]string{"format": "prometheus"}})
	if err != nil || !regexp.MustCompile(`(?m)^nomad_nomad_heartbeat_active\{host="[^"]+"\} 1$`).Match(text) {
		t.Errorf("metrics for Prometheus: %s, %v", text, err)
	}
}
