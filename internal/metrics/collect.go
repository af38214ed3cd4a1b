// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/reeve-run/reeve/internal/limit"
)

// collector measures at each scrape. It describes nothing in advance, because the labels of metric
// tags are only known then.
type collector struct{ r *Registry }

var _ prometheus.Collector = collector{}

// Describe implements prometheus.Collector.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	e, now := &emitter{r: c.r, out: out, tagged: map[string]*prometheus.Desc{}}, time.Now()
	s := c.r.sources
	omittedGroups, omittedStacks := 0, 0
	if s.State != nil {
		omittedGroups = e.state(s.State())
	}
	if s.Server != nil {
		e.server(s.Server(), now)
	}
	if s.Node != nil {
		if n := s.Node(); n != nil {
			e.node(n)
		}
	}
	if s.Router != nil {
		omittedStacks = e.router(s.Router())
	}
	e.agent(now)
	e.gauge("reeve.metrics.groups_omitted", float64(omittedGroups))
	e.gauge("reeve.metrics.stacks_omitted", float64(omittedStacks))
}

// agent writes the series that every agent has.
func (e *emitter) agent(now time.Time) {
	r := e.r
	e.gauge("reeve.build_info", 1, Label(r.sources.Version))
	e.gauge("reeve.uptime_seconds", now.Sub(r.started).Seconds())
	e.counter("nomad.nomad.rpc.request", r.requests.Load())
	e.counter("nomad.nomad.rpc.query", r.queries.Load())
	e.counter("nomad.nomad.rpc.request_error", r.failures.Load())
	for _, class := range limit.Classes() {
		e.counter("reeve.requests.limited_total", r.limited[class].Load(), class.String())
	}
	var written, dropped uint64
	if r.sources.Audit != nil {
		written, dropped = r.sources.Audit()
	}
	e.counter("reeve.audit.records_total", written)
	e.counter("reeve.audit.dropped_total", dropped)
	if r.sources.AuditSinks != nil {
		for _, s := range r.sources.AuditSinks() {
			e.counter("reeve.audit.sink.records_total", s.Records, Label(s.Name))
			e.counter("reeve.audit.sink.failures_total", s.Failures, Label(s.Name))
			e.counter("reeve.audit.sink.gaps_total", s.Gaps, Label(s.Name))
			e.gauge("reeve.audit.sink.waiting_bytes", float64(s.WaitingBytes), Label(s.Name))
			e.flag("reeve.audit.sink.failing", !s.FailingSince.IsZero(), Label(s.Name))
		}
	}
	e.runtime()
	left, at := until(r.sources.CertificateExpiry, now)
	e.gauge("nomad.agent.tls.cert.expiration_seconds", left)
	e.gauge("reeve.certificate.expires_timestamp_seconds", at)
	left, _ = until(r.sources.CAExpiry, now)
	e.gauge("nomad.agent.tls.ca.expiration_seconds", left)
}

// until returns the seconds until a certificate expires, and the Unix time of that.
func until(expiry func() time.Time, now time.Time) (left, at float64) {
	if expiry == nil {
		return 0, 0
	}
	t := expiry()
	if t.IsZero() {
		return 0, 0
	}
	return t.Sub(now).Seconds(), float64(t.Unix())
}

func (e *emitter) runtime() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	e.gauge("nomad.runtime.num_goroutines", float64(runtime.NumGoroutine()))
	e.gauge("nomad.runtime.alloc_bytes", float64(m.Alloc))
	e.gauge("nomad.runtime.sys_bytes", float64(m.Sys))
	e.gauge("nomad.runtime.heap_objects", float64(m.HeapObjects))
	e.gauge("nomad.runtime.total_gc_runs", float64(m.NumGC))
	e.gauge("nomad.runtime.total_gc_pause_ns", float64(m.PauseTotalNs))
	recent := m.PauseNs[:min(int(m.NumGC), len(m.PauseNs))]
	slices.Sort(recent)
	values := make(map[float64]float64, len(quantiles))
	for _, q := range quantiles {
		values[q] = 0
		if n := len(recent); n > 0 {
			values[q] = float64(recent[int(q*float64(n-1))])
		}
	}
	e.out <- prometheus.MustNewConstSummary(e.r.descs["nomad.runtime.gc_pause_ns"], uint64(m.NumGC), float64(m.PauseTotalNs), values)
}
