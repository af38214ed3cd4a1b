// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"
	"strings"
)

// A Kind is the kind of a series' values.
type Kind string

// Kinds of series.
const (
	Gauge   Kind = "gauge"
	Counter Kind = "counter"
	Summary Kind = "summary"
)

// A Series describes all series with one name.
type Series struct {
	Name   string // in JSON; Prometheus has underscores instead of dots
	Kind   Kind
	Part   string   // part of the agent that has it: agent, server, node or router
	Labels []string // besides host
	Help   string
}

// Prometheus returns the name in Prometheus' format.
func (s *Series) Prometheus() string { return strings.ReplaceAll(s.Name, ".", "_") }

// All returns all series, in the order of the documentation.
func All() []*Series {
	return slices.Concat(agentSeries(), serverSeries(), nodeSeries(), taskSeries(), routerSeries())
}

// of returns series of one part of an agent.
func of(part string, series ...*Series) []*Series {
	for _, s := range series {
		s.Part = part
	}
	return series
}

func gauge(name, help string, labels ...string) *Series {
	return &Series{Name: name, Kind: Gauge, Help: help, Labels: labels}
}

func counter(name, help string, labels ...string) *Series {
	return &Series{Name: name, Kind: Counter, Help: help, Labels: labels}
}

func summary(name, help string, labels ...string) *Series {
	return &Series{Name: name, Kind: Summary, Help: help, Labels: labels}
}
