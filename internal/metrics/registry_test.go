// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
	"github.com/reeve-run/reeve/internal/metrics"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// scrape returns the series in Prometheus' text, as its parser reads them.
func scrape(t testing.TB, r *metrics.Registry) map[string]*dto.MetricFamily {
	t.Helper()
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&text)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// empty are the sources of an agent with all parts, on which nothing has happened.
func empty() metrics.Sources {
	store := state.New()
	return metrics.Sources{
		Host: "a", Version: "1.0.0", State: store.Snapshot,
		Server: func() server.Figures { return server.Figures{} },
		Node: func() *metrics.Node {
			return &metrics.Node{Node: &api.Node{ID: "n"}, Host: &api.HostStats{
				Memory: &api.HostMemoryStats{}, CPU: []*api.HostCPUStats{{CPU: "cpu0"}}, DiskStats: []*api.HostDiskStats{{Device: "/d"}},
			}, Tasks: []metrics.Task{{AllocID: "a", Job: "web", Group: "web", Task: "server", Namespace: "default"}}}
		},
		Router:     func() *metrics.Router { return &metrics.Router{} },
		AuditSinks: func() []*api.AuditSink { return []*api.AuditSink{{Name: "siem"}} },
	}
}

func TestEverySeriesExistsFromTheStart(t *testing.T) {
	families := scrape(t, metrics.New(empty(), metrics.DefaultLimits))
	var want []string
	for _, s := range metrics.All() {
		want = append(want, s.Prometheus())
		f := families[s.Prometheus()]
		if f == nil {
			continue
		}
		if got := strings.ToLower(f.GetType().String()); got != string(s.Kind) {
			t.Errorf("%s is a %s, want a %s", s.Name, got, s.Kind)
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName())
			}
			slices.Sort(labels)
			expected := slices.Sorted(slices.Values(append([]string{"host"}, s.Labels...)))
			if d := cmp.Diff(expected, labels); d != "" {
				t.Errorf("%s has other labels (-want +got):\n%s", s.Name, d)
			}
		}
	}
	slices.Sort(want)
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(families))); d != "" {
		t.Errorf("series that exist (-described +found):\n%s", d)
	}
}

// known are the series that dashboards and alert rules for Nomad use.
var known = []string{
	"nomad_nomad_job_summary_queued", "nomad_nomad_job_summary_starting", "nomad_nomad_job_summary_running", "nomad_nomad_job_summary_failed",
	"nomad_nomad_job_summary_lost", "nomad_nomad_job_summary_complete", "nomad_nomad_job_summary_unknown",
	"nomad_nomad_job_status_running", "nomad_nomad_job_status_pending", "nomad_nomad_job_status_dead",
	"nomad_nomad_blocked_evals_total_blocked", "nomad_nomad_blocked_evals_total_escaped", "nomad_nomad_blocked_evals_total_quota_limit",
	"nomad_nomad_blocked_evals_cpu", "nomad_nomad_blocked_evals_memory",
	"nomad_nomad_broker_total_ready", "nomad_nomad_broker_total_unacked", "nomad_nomad_broker_total_pending", "nomad_nomad_broker_total_waiting",
	"nomad_nomad_plan_queue_depth", "nomad_nomad_plan_evaluate", "nomad_nomad_plan_submit", "nomad_nomad_plan_node_rejected",
	"nomad_nomad_worker_invoke_scheduler_service", "nomad_nomad_worker_wait_for_index", "nomad_nomad_heartbeat_active",
	"nomad_nomad_rpc_request", "nomad_nomad_rpc_query", "nomad_nomad_rpc_request_error",
	"nomad_nomad_autopilot_healthy", "nomad_nomad_autopilot_failure_tolerance",
	"nomad_raft_apply", "nomad_raft_appliedIndex", "nomad_raft_commitTime", "nomad_raft_leader_lastContact", "nomad_raft_state_leader", "nomad_raft_state_candidate",
	"nomad_agent_tls_cert_expiration_seconds", "nomad_agent_tls_ca_expiration_seconds",
	"nomad_runtime_alloc_bytes", "nomad_runtime_num_goroutines", "nomad_runtime_gc_pause_ns",
	"nomad_client_allocated_cpu", "nomad_client_allocated_memory", "nomad_client_allocated_disk",
	"nomad_client_unallocated_cpu", "nomad_client_unallocated_memory", "nomad_client_unallocated_disk",
	"nomad_client_allocations_running", "nomad_client_allocations_pending", "nomad_client_allocations_blocked", "nomad_client_allocations_terminal",
	"nomad_client_host_cpu_total_percent", "nomad_client_host_cpu_idle", "nomad_client_host_memory_total", "nomad_client_host_memory_available",
	"nomad_client_host_memory_used", "nomad_client_host_disk_available", "nomad_client_host_disk_used_percent", "nomad_client_host_disk_size", "nomad_client_uptime",
}

func TestSeriesOfDashboardsExist(t *testing.T) {
	families := scrape(t, metrics.New(empty(), metrics.DefaultLimits))
	for _, name := range known {
		if families[name] == nil {
			t.Errorf("%s does not exist", name)
		}
	}
}

func TestPartsThatAreAbsentHaveNoSeries(t *testing.T) {
	present := scrape(t, metrics.New(metrics.Sources{}, metrics.DefaultLimits))
	for _, s := range metrics.All() {
		if has := present[s.Prometheus()] != nil; has != (s.Part == "agent" && !strings.HasPrefix(s.Name, "reeve.audit.sink.")) {
			t.Errorf("%s of the %s: there is %v", s.Name, s.Part, has)
		}
	}
	for _, s := range metrics.All() {
		if f := present[s.Prometheus()]; f != nil && len(f.GetMetric()[0].GetLabel()) != len(s.Labels) {
			t.Errorf("%s has other labels than its own without a host: %v", s.Name, f)
		}
	}
}

// busy are sources whose values all differ from 0.
func busy() metrics.Sources {
	s := empty()
	var h latency.Histogram
	for ms := 1; ms <= 1000; ms++ {
		h.Observe(time.Duration(ms) * time.Millisecond)
	}
	s.Server = func() server.Figures {
		f := server.Figures{Leads: true, Refused: 7, Submits: h.Summary(), Queued: 3}
		f.Log.Entries, f.Log.Syncs, f.Log.AppliedIndex, f.Broker.Index = 11, h.Summary(), 20, 15
		f.Log.Snapshot, f.Broker.Oldest = time.Now().Add(-time.Hour), time.Now().Add(-time.Minute)
		return f
	}
	s.Router = func() *metrics.Router {
		return &metrics.Router{Connected: true, Requests: 9, Stacks: []metrics.Stack{
			{Namespace: "default", Stack: "web--1-2-3--abcd1234", Requests: 5, Errors: 1, Latency: h.Summary()},
		}}
	}
	return s
}

func TestJSONAndPrometheusAgree(t *testing.T) {
	r := metrics.New(busy(), metrics.DefaultLimits)
	// Figures that no measurement changes between the two scrapes.
	stable := func(name string) bool {
		return !strings.HasPrefix(name, "nomad_runtime") && !strings.Contains(name, "age_seconds") && !strings.HasSuffix(name, "oldest_seconds") && name != "reeve_uptime_seconds"
	}
	key := func(name string, labels map[string]string) string {
		for _, l := range slices.Sorted(maps.Keys(labels)) {
			name += " " + l + "=" + labels[l]
		}
		return name
	}
	fromJSON, fromText := map[string]float64{}, map[string]float64{}
	m := r.Summary(time.Now())
	for _, g := range m.Gauges {
		if name := strings.ReplaceAll(g.Name, ".", "_"); stable(name) {
			fromJSON[key(name, g.Labels)] = g.Value
		}
	}
	for _, c := range slices.Concat(m.Counters, m.Samples) {
		if name := strings.ReplaceAll(c.Name, ".", "_"); stable(name) {
			fromJSON[key(name, c.Labels)] = c.Sum
		}
	}
	for name, f := range scrape(t, r) {
		if !stable(name) {
			continue
		}
		for _, s := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range s.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			fromText[key(name, labels)] = s.GetGauge().GetValue() + s.GetCounter().GetValue() + s.GetSummary().GetSampleSum()
		}
	}
	if d := cmp.Diff(fromText, fromJSON); d != "" {
		t.Errorf("(-Prometheus +JSON):\n%s", d)
	}
	if len(fromText) < 60 || fromText["reeve_applier_refusals_total host=a"] != 7 || fromText["reeve_feed_lag_entries host=a"] != 5 {
		t.Errorf("%d series: %v", len(fromText), fromText)
	}
	for _, s := range m.Samples {
		if s.Name == "nomad.nomad.plan.submit" && (s.Count != 1000 || math.Abs(s.Mean-500.5) > 0.1 || s.Max < 1000 || s.Min > 1) {
			t.Errorf("the samples of 1 to 1000 ms are %+v", s)
		}
	}
}

func TestFollowersKeepTheSeriesOfTheLeader(t *testing.T) {
	s, leads := busy(), true
	figures := s.Server
	s.Server = func() server.Figures {
		if leads {
			return figures()
		}
		return server.Figures{Refused: 7}
	}
	r := metrics.New(s, metrics.DefaultLimits)
	before := slices.Sorted(maps.Keys(scrape(t, r)))
	leads = false
	after := scrape(t, r)
	if d := cmp.Diff(before, slices.Sorted(maps.Keys(after))); d != "" {
		t.Errorf("series after the loss of leadership (-before +after):\n%s", d)
	}
	if v := after["reeve_applier_refusals_total"].GetMetric()[0].GetCounter().GetValue(); v != 7 {
		t.Errorf("the counter of refusals is %v, want 7 as before", v)
	}
	if v := after["reeve_broker_oldest_seconds"].GetMetric()[0].GetGauge().GetValue(); v != 0 {
		t.Errorf("a follower's oldest evaluation has the age %v, want 0", v)
	}
}

func TestCertificates(t *testing.T) {
	s, expires := empty(), time.Now().Add(time.Hour)
	s.CertificateExpiry = func() time.Time { return expires }
	s.CAExpiry = func() time.Time { return time.Time{} }
	families := scrape(t, metrics.New(s, metrics.DefaultLimits))
	if v := families["nomad_agent_tls_cert_expiration_seconds"].GetMetric()[0].GetGauge().GetValue(); v < 3590 || v > 3600 {
		t.Errorf("the certificate expires in %v s, want an hour", v)
	}
	if v := families["nomad_agent_tls_ca_expiration_seconds"].GetMetric()[0].GetGauge().GetValue(); v != 0 {
		t.Errorf("an unknown root expires in %v s, want 0", v)
	}
}
