// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/api"
)

func TestMetricsAreReadByOtherClients(t *testing.T) {
	h := newHarness(t)
	h.populate()
	var m nomad.MetricsSummary
	h.get("/v1/metrics", &m)
	values := map[string]float32{}
	for _, g := range m.Gauges {
		if g.DisplayLabels == nil {
			t.Errorf("%s has no labels, not even none", g.Name)
		}
		values[g.Name] = g.Value
	}
	for name, want := range map[string]float32{
		"nomad.nomad.heartbeat.active": 1, "nomad.nomad.job_status.running": 1, "nomad.nomad.job_summary.starting": 1,
		"nomad.nomad.job_summary.running": 0, "nomad.nomad.broker.total_ready": 0, "nomad.nomad.blocked_evals.total_blocked": 0,
	} {
		if got, ok := values[name]; !ok || got != want {
			t.Errorf("%s is %v (there: %v), want %v", name, got, ok, want)
		}
	}
	if values["nomad.runtime.num_goroutines"] == 0 || values["nomad.raft.appliedIndex"] == 0 || len(m.Counters) == 0 || m.Timestamp == "" {
		t.Errorf("got %v at %q with %d counters", values, m.Timestamp, len(m.Counters))
	}
}

func TestMetricsForPrometheus(t *testing.T) {
	h := newHarness(t)
	h.populate()
	a := h.do(http.MethodGet, "/v1/metrics?format=prometheus", "")
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") || !strings.Contains(a.body, "\nnomad_nomad_heartbeat_active 1\n") {
		t.Errorf("got %d %s %s", a.status, a.header.Get("Content-Type"), a.body)
	}
	line := regexp.MustCompile(`^(# TYPE \w+ (gauge|counter)|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.e+-]+)$`)
	for text := range strings.Lines(a.body) {
		if !line.MatchString(strings.TrimSuffix(text, "\n")) {
			t.Errorf("no line of Prometheus' format: %s", text)
		}
	}
	if got := string(prometheus(&api.MetricsSummary{Gauges: []*api.Gauge{{Name: "a.b", Value: 1.5, Labels: map[string]string{"x": "a\"\n\\", "y": "z"}}}})); got != "# TYPE a_b gauge\na_b{x=\"a\\\"\\n\\\\\",y=\"z\"} 1.5\n" {
		t.Errorf("labels are written as %q", got)
	}
	if a := h.do(http.MethodGet, "/v1/metrics?format=xml", ""); a.status != http.StatusBadRequest {
		t.Errorf("another format: got %d", a.status)
	}
}

func TestTasksHaveNoIdentitiesToCheck(t *testing.T) {
	h := newHarness(t)
	if a := h.get("/.well-known/jwks.json", nil); strings.TrimSpace(a.body) != `{"keys":[]}` {
		t.Errorf("got %s", a.body)
	}
}
