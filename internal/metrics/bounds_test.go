// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/metrics"
	"github.com/reeve-run/reeve/internal/state"
)

// register stores n jobs, of which each has one running allocation.
func register(t testing.TB, store *state.Store, n int, change func(*api.Job)) {
	t.Helper()
	apply := func(cmds ...state.Command) {
		t.Helper()
		for _, err := range store.Apply(store.Index()+1, cmds) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	node := &api.Node{ID: api.NewID(), Name: "n", Status: api.NodeStatusReady}
	apply(&state.RegisterNode{Node: node})
	for first := 0; first < n; first += 1000 {
		var jobs, placements []state.Command
		for i := first; i < min(first+1000, n); i++ {
			count := 1
			job := &api.Job{
				Namespace: api.DefaultNamespace, ID: fmt.Sprintf("job-%06d", i), Type: api.JobTypeService, Priority: 50,
				Groups: []*api.Group{{Name: "web", Count: &count, Tasks: []*api.Task{{Name: "server", Driver: "mock"}}}},
			}
			if change != nil {
				change(job)
			}
			jobs = append(jobs, &state.RegisterJob{Job: job})
			placements = append(placements, &state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: []*api.Allocation{{
				ID: api.NewID(), Namespace: job.Namespace, JobID: job.ID, Name: api.AllocName(job.ID, "web", 0), Group: "web", NodeID: node.ID,
				DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
			}}}})
		}
		apply(jobs...)
		apply(placements...)
	}
}

func TestSeriesOfGroupsAreBounded(t *testing.T) {
	store := state.New()
	register(t, store, 50, nil)
	s := empty()
	s.State = store.Snapshot
	r := metrics.New(s, metrics.Limits{Groups: 20, Stacks: 1, Cores: 1})
	starting := func() map[string]float64 {
		t.Helper()
		by := map[string]float64{}
		for _, m := range scrape(t, r)["nomad_nomad_job_summary_starting"].GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "job" {
					by[l.GetValue()] = m.GetGauge().GetValue()
				}
			}
		}
		return by
	}
	want := map[string]float64{"other": 30}
	for i := range 20 {
		want[fmt.Sprintf("job-%06d", i)] = 1
	}
	if d := cmp.Diff(want, starting()); d != "" {
		t.Errorf("allocations that start, by job (-want +got):\n%s", d)
	}
	if d := cmp.Diff(starting(), starting()); d != "" {
		t.Errorf("two scrapes of the same state differ:\n%s", d)
	}
	families := scrape(t, r)
	if v := families["reeve_metrics_groups_omitted"].GetMetric()[0].GetGauge().GetValue(); v != 30 {
		t.Errorf("%v groups are left out, want 30", v)
	}
	for _, m := range families["reeve_allocations"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetValue() == "starting" && m.GetGauge().GetValue() != 50 {
				t.Errorf("%v allocations start, want 50", m.GetGauge().GetValue())
			}
		}
	}
}

func TestSeriesOfStacksAreBounded(t *testing.T) {
	s := empty()
	s.Router = func() *metrics.Router {
		out := &metrics.Router{}
		for i := range 30 {
			out.Stacks = append(out.Stacks, metrics.Stack{Namespace: "default", Stack: fmt.Sprintf("web--1-0-%d--abcd1234", i), Requests: uint64(i), Errors: 1})
		}
		return out
	}
	families := scrape(t, metrics.New(s, metrics.Limits{Groups: 1, Stacks: 3, Cores: 1}))
	got := map[string]float64{}
	for _, m := range families["reeve_router_stack_requests_total"].GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		got[labels["namespace"]+" "+labels["unit"]+" "+labels["stack"]+" "+labels["version"]] = m.GetCounter().GetValue()
	}
	want := map[string]float64{
		"default web web--1-0-29--abcd1234 1.0.29": 29, "default web web--1-0-28--abcd1234 1.0.28": 28, "default web web--1-0-27--abcd1234 1.0.27": 27,
		"  other ": 27 * 26 / 2,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("requests by stack (-want +got):\n%s", d)
	}
	if v := families["reeve_metrics_stacks_omitted"].GetMetric()[0].GetGauge().GetValue(); v != 27 {
		t.Errorf("%v stacks are left out, want 27", v)
	}
}

func TestHostileNamesDamageNoOtherSeries(t *testing.T) {
	hostile := []string{"a\"} 1\n# TYPE x counter\nx 2\n", strings.Repeat("x", 1<<16), "\xff\xfe", `\`, "job=\"other\""}
	store, i := state.New(), 0
	register(t, store, 5, func(j *api.Job) {
		j.Groups[0].MetricTags = map[string]*api.MetricTag{hostile[i]: {Static: hostile[i]}, "host": {Static: "b"}, "job": {Static: "c"}, "__name__": {Static: "d"}}
		j.ParentID = hostile[i]
		i++
	})
	s := empty()
	s.State, s.Host = store.Snapshot, "a\n\"b\\"
	s.Router = func() *metrics.Router {
		out := &metrics.Router{}
		for _, name := range hostile {
			out.Stacks = append(out.Stacks, metrics.Stack{Namespace: name, Stack: name, Requests: 1})
		}
		return out
	}
	r := metrics.New(s, metrics.DefaultLimits)
	families := scrape(t, r)
	var want []string
	for _, s := range metrics.All() {
		want = append(want, s.Prometheus())
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(maps.Keys(families))); d != "" {
		t.Errorf("series (-want +got):\n%s", d)
	}
	if n := len(families["nomad_nomad_job_summary_starting"].GetMetric()); n != 6 {
		t.Errorf("%d series of groups, want 5 and the others", n)
	}
	if n := len(families["reeve_router_stack_requests_total"].GetMetric()); n != 6 {
		t.Errorf("%d series of stacks, want 5 and the others", n)
	}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if len(l.GetValue()) > 128 || l.GetName() == "host" && l.GetValue() != s.Host {
					t.Errorf("%s has the label %s=%q", name, l.GetName(), l.GetValue())
				}
			}
		}
	}
}

// most is the number of series that an agent may have.
const most = 10_000

func TestSeriesOfALargeClusterAreBounded(t *testing.T) {
	store := state.New()
	register(t, store, 5000, nil)
	s := empty()
	s.State = store.Snapshot
	s.Node = func() *metrics.Node {
		host := &api.HostStats{}
		for i := range 1000 {
			host.CPU = append(host.CPU, &api.HostCPUStats{CPU: fmt.Sprintf("cpu%d", i)})
		}
		return &metrics.Node{Node: &api.Node{ID: "n"}, Host: host}
	}
	s.Router = func() *metrics.Router {
		out := &metrics.Router{}
		for i := range 5000 {
			out.Stacks = append(out.Stacks, metrics.Stack{Namespace: "default", Stack: fmt.Sprintf("web--1-0-%d--abcd1234", i)})
		}
		return out
	}
	total := 0
	for _, f := range scrape(t, metrics.New(s, metrics.DefaultLimits)) {
		for _, m := range f.GetMetric() {
			total++
			if m.GetSummary() != nil {
				total += len(m.GetSummary().GetQuantile()) + 1 // each quantile, the sum and the number are series
			}
		}
	}
	if total < 8000 || total > most {
		t.Errorf("%d series, want more than 8000 and at most %d", total, most)
	}
}

// BenchmarkScrape measures a scrape of a cluster with 100,000 jobs.
func BenchmarkScrape(b *testing.B) {
	store := state.New()
	register(b, store, 100_000, nil)
	s := busy()
	s.State = store.Snapshot
	r := metrics.New(s, metrics.DefaultLimits)
	for _, format := range []struct {
		name  string
		write func() error
	}{
		{"prometheus", func() error { return r.WriteText(discard{}) }},
		{"json", func() error { _ = r.Summary(time.Now()); return nil }},
	} {
		b.Run(format.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := format.write(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
