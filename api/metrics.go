// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// MetricsSummary is what an agent measures of itself and, if it is a server, of
// its cluster.
type MetricsSummary struct {
	Timestamp string
	Gauges    []*Gauge
	Points    []*Gauge // none: no client reads them
	Counters  []*Counter
	Samples   []*Counter // none: durations are not measured
}

// Gauge is a value as it is now.
type Gauge struct {
	Name   string
	Value  float64
	Labels map[string]string
}

// Counter is how often something happened since the agent started.
type Counter struct {
	Name   string
	Count  uint64
	Rate   float64 // per second, over that time
	Sum    float64
	Min    float64
	Max    float64
	Mean   float64
	Stddev float64
	Labels map[string]string
}
