// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A MetricsSummary holds an agent's metrics and, for a server, those of its cluster.
type MetricsSummary struct {
	Timestamp string
	Gauges    []*Gauge
	Points    []*Gauge // empty: no client reads them
	Counters  []*Counter
	Samples   []*Counter // durations
}

// A Gauge is a current value.
type Gauge struct {
	Name   string
	Value  float64
	Labels map[string]string
}

// A Counter counts occurrences since the agent started, or summarizes samples.
type Counter struct {
	Name   string
	Count  uint64
	Rate   float64 // per second, over that time
	Sum    float64
	Min    float64
	Max    float64
	Mean   float64
	Stddev float64 // 0: it is not measured
	Labels map[string]string
}
