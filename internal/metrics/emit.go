// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"math"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/reeve-run/reeve/internal/latency"
)

// emitter writes the values of one scrape. A wrong number of label values is an error of this
// package, which its tests find: the library panics.
type emitter struct {
	r      *Registry
	out    chan<- prometheus.Metric
	tagged map[string]*prometheus.Desc // by name and tags
}

func (e *emitter) gauge(name string, value float64, labels ...string) {
	e.out <- prometheus.MustNewConstMetric(e.r.descs[name], prometheus.GaugeValue, value, labels...)
}

func (e *emitter) flag(name string, on bool, labels ...string) {
	value := 0.0
	if on {
		value = 1
	}
	e.gauge(name, value, labels...)
}

func (e *emitter) counter(name string, value uint64, labels ...string) {
	e.out <- prometheus.MustNewConstMetric(e.r.descs[name], prometheus.CounterValue, float64(value), labels...)
}

// taggedGauge writes a gauge with the labels of metric tags after its own.
func (e *emitter) taggedGauge(name string, value float64, tags []string, labels ...string) {
	if len(tags) == 0 {
		e.gauge(name, value, labels...)
		return
	}
	key := name + " " + strings.Join(tags, " ")
	desc := e.tagged[key]
	if desc == nil {
		desc = e.r.describe(e.r.series[strings.ReplaceAll(name, ".", "_")], tags)
		e.tagged[key] = desc
	}
	e.out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

// quantiles are those of all summaries. The first and the last are the extremes.
var quantiles = []float64{0, 0.5, 0.9, 0.99, 1}

// summary writes durations in a unit.
func (e *emitter) summary(name string, s *latency.Summary, unit time.Duration, labels ...string) {
	values, total := make(map[float64]float64, len(quantiles)), s.Counts.Total()
	for _, q := range quantiles {
		values[q] = math.NaN() // of nothing
		if total > 0 {
			values[q] = float64(quantile(&s.Counts, q)) / float64(unit)
		}
	}
	e.out <- prometheus.MustNewConstSummary(e.r.descs[name], total, float64(s.Sum)/float64(unit), values, labels...)
}

// quantile returns the duration at a quantile; the highest is the end of the last bucket in use.
func quantile(c *latency.Counts, q float64) time.Duration {
	if q < 1 {
		return c.Percentile(q)
	}
	for i := len(c) - 1; i >= 0; i-- {
		if c[i] > 0 {
			return latency.Below(i)
		}
	}
	return 0
}
