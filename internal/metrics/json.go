// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"math"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/reeve-run/reeve/api"
)

// summarize converts gathered series to Nomad's form.
func (r *Registry) summarize(families []*dto.MetricFamily, now time.Time) *api.MetricsSummary {
	out := &api.MetricsSummary{
		Timestamp: now.UTC().Round(time.Second).String(),
		Gauges:    []*api.Gauge{}, Points: []*api.Gauge{}, Counters: []*api.Counter{}, Samples: []*api.Counter{},
	}
	elapsed := max(1, now.Sub(r.started).Seconds())
	for _, f := range families {
		series := r.series[f.GetName()]
		if series == nil {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := make(map[string]string, len(m.GetLabel()))
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			switch series.Kind {
			case Gauge:
				out.Gauges = append(out.Gauges, &api.Gauge{Name: series.Name, Value: m.GetGauge().GetValue(), Labels: labels})
			case Counter:
				n := m.GetCounter().GetValue()
				out.Counters = append(out.Counters, &api.Counter{
					Name: series.Name, Count: uint64(n), Rate: n / elapsed, Sum: n, Min: 1, Max: 1, Mean: 1, Labels: labels,
				})
			case Summary:
				out.Samples = append(out.Samples, sample(series.Name, m.GetSummary(), elapsed, labels))
			}
		}
	}
	return out
}

// sample converts a summary. Its extremes are the quantiles 0 and 1.
func sample(name string, s *dto.Summary, elapsed float64, labels map[string]string) *api.Counter {
	c := &api.Counter{Name: name, Count: s.GetSampleCount(), Sum: s.GetSampleSum(), Rate: s.GetSampleSum() / elapsed, Labels: labels}
	if c.Count == 0 {
		return c
	}
	c.Mean = c.Sum / float64(c.Count)
	for _, q := range s.GetQuantile() {
		switch v := q.GetValue(); {
		case math.IsNaN(v):
		case q.GetQuantile() == 0:
			c.Min = v
		case q.GetQuantile() == 1:
			c.Max = v
		}
	}
	return c
}
