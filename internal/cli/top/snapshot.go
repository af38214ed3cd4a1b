// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Snapshot is one reading of a cluster.
type Snapshot struct {
	Time      time.Time
	Address   string // of the agent that answered
	Leader    string // "" if no server leads
	Counts    *Counts
	Servers   []*api.ServerStatus
	Attention []*api.Attention
	Jobs      List[*api.JobListStub]
	Nodes     List[*api.NodeListStub]
}

// A List is the first page of a list.
type List[T any] struct {
	Items   []T    // nil: not read
	More    bool   // the list continues after Items
	Missing string `json:",omitempty"` // why the caller may not read the list
}

// Counts are the figures of the agent that answered. They are nil if the agent is not a server.
type Counts struct {
	Jobs        map[string]int // by status
	Nodes       map[string]int
	Allocations map[string]int
	Crashing    int    // allocations
	Failing     int    // allocations with a failing check
	Applied     uint64 // index of the newest log entry in the state
	Requests    uint64 // since the start of the agent
	// Leads reports whether the agent leads. Only a leader has evaluations.
	Leads   bool
	Waiting int // evaluations that wait for a worker
	Working int // evaluations that workers process
	Blocked int // evaluations that wait for capacity
}

// jobStatusSeries is the beginning of the names of series that count jobs.
const jobStatusSeries = "nomad.nomad.job_status."

// CountsOf picks the figures out of an agent's metrics.
func CountsOf(m *api.MetricsSummary) *Counts {
	c := &Counts{Jobs: map[string]int{}, Nodes: map[string]int{}, Allocations: map[string]int{}}
	isServer := false
	for _, g := range m.Gauges {
		n := int(g.Value)
		if status, ok := strings.CutPrefix(g.Name, jobStatusSeries); ok {
			c.Jobs[status] = n
			continue
		}
		switch g.Name {
		case "reeve.nodes":
			c.Nodes[g.Labels["status"]] = n
		case "reeve.allocations":
			c.Allocations[g.Labels["status"]] = n
		case "reeve.allocations_unhealthy":
			if g.Labels["kind"] == "crashing" {
				c.Crashing = n
			} else {
				c.Failing = n
			}
		case "nomad.raft.appliedIndex":
			isServer, c.Applied = true, uint64(g.Value)
		case "reeve.leader":
			c.Leads = n == 1
		case "nomad.nomad.broker.total_ready":
			c.Waiting = n
		case "nomad.nomad.broker.total_unacked":
			c.Working = n
		case "nomad.nomad.blocked_evals.total_blocked":
			c.Blocked = n
		}
	}
	if !isServer {
		return nil
	}
	for _, counter := range m.Counters {
		if counter.Name == "nomad.nomad.rpc.request" {
			c.Requests = counter.Count
		}
	}
	return c
}

// Rates are occurrences per second between two readings.
type Rates struct {
	Changes     float64 // log entries
	Requests    float64 // to the agent that answered
	Evaluations float64 // of all servers
}

// RatesOf compares two readings of one agent. It returns nil without a basis for a rate: other
// agents, agents that are not servers, and agents that restarted in between.
func RatesOf(before, after *Snapshot) *Rates {
	if before == nil || before.Address != after.Address || before.Counts == nil || after.Counts == nil {
		return nil
	}
	seconds := after.Time.Sub(before.Time).Seconds()
	if seconds <= 0 || after.Counts.Applied < before.Counts.Applied || after.Counts.Requests < before.Counts.Requests {
		return nil
	}
	r := &Rates{
		Changes:  float64(after.Counts.Applied-before.Counts.Applied) / seconds,
		Requests: float64(after.Counts.Requests-before.Counts.Requests) / seconds,
	}
	earlier := map[string]uint64{}
	for _, s := range before.Servers {
		earlier[s.ID] = s.Evaluations
	}
	for _, s := range after.Servers {
		if n, known := earlier[s.ID]; known && s.Evaluations >= n { // fewer: the server restarted
			r.Evaluations += float64(s.Evaluations-n) / seconds
		}
	}
	return r
}
