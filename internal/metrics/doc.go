// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package metrics publishes an agent's measurements as one set of series, which clients read as
// JSON in Nomad's form or as Prometheus' text.
//
// The other packages measure: they count and time what they do, without a notion of series. At each
// scrape a Registry reads their figures and the state, and writes one value per series. So a
// series exists from the start with the value 0, no measurement can be registered twice, and a
// server that loses its leadership keeps its series.
//
// The number of series is bounded regardless of the size of the cluster, because every series costs memory
// in each monitoring system that reads it: see Limits. Names of jobs and tags come from users;
// they are cleaned before they become labels.
package metrics
