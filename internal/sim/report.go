// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Report holds the measurements of a run. Times are real; durations are nanoseconds in JSON.
type Report struct {
	Scenario string
	Seed     uint64
	Limit    bool // reports whether the time limit ended the run

	Nodes     NodesReport
	Jobs      JobsReport
	Instances InstancesReport
	Events    []EventReport `json:",omitempty"`

	// The time from the first registration of a job until the last instance was on its node,
	// and until the servers knew that the last one runs, without replacements.
	AllPlaced           time.Duration
	AllRunning          time.Duration
	PlacementsPerSecond float64

	Placed   Latency // from registration to arrival on its node
	Running  Latency // from registration until the servers know that it runs
	Replaced Latency // from the loss of its node to the arrival of a replacement

	Capacity  []DimensionReport
	NodesUsed int            // nodes with instances at the end
	Spread    []SpreadReport `json:",omitempty"`

	Evaluations map[string]int  // number by status
	Waiting     []WaitingReport `json:",omitempty"`

	Stacks *StacksReport `json:",omitempty"` // nil for a scenario without stacks

	Requests RequestsReport
	Server   *ServerReport `json:",omitempty"` // nil for a server that the run did not start
}

// NodesReport holds measurements of the registration of nodes.
type NodesReport struct {
	Registered int
	Took       time.Duration
	PerSecond  float64
}

// JobsReport holds measurements of the registration of jobs.
type JobsReport struct {
	Registered int
	Took       time.Duration // including waits for registration times
}

// InstancesReport counts instances. Placed and Started count the initially desired ones; the
// other fields describe the end of the run.
type InstancesReport struct {
	Wanted   int64 // desired number of jobs with a count
	Placed   int64
	Started  int64
	Running  int64
	Pending  int64
	Complete int64
	Failed   int64
	Waiting  int64 // blocked for lack of capacity
}

// An EventReport describes an event of the run.
type EventReport struct {
	At          time.Duration
	Description string `json:"What"`
}

// Latency summarizes durations.
type Latency struct {
	Count              int
	P50, P90, P99, Max time.Duration
}

// A DimensionReport describes the use of the fleet in one dimension. Stranded is the free
// capacity of nodes on which no further instance fits, not even of the group with the smallest
// request.
type DimensionReport struct {
	Dimension string
	Capacity  int64
	Used      int64 // at the end
	Peak      int64
	Free      int64 // at the end, on nodes that are up
	Stranded  int64
}

// A SpreadReport is the largest deviation of a group from its desired spread, in instances,
// over all values and all copies of the job.
type SpreadReport struct {
	Job, Group, Attribute string
	Copies                int
	Error                 float64 // of the worst copy
	MeanError             float64
	Example               map[string]int // instances by value in the worst copy
}

// A WaitingReport describes instances that could not be placed. Copies of a job that wait for
// the same reasons are combined.
type WaitingReport struct {
	Job, Group string
	Copies     int
	Instances  int
	Why        *api.PlacementMetrics // of the first copy's evaluation
	Explained  *api.GroupExplanation `json:",omitempty"` // of the first copy, at the end
}

// RequestsReport counts the requests of the nodes.
type RequestsReport struct {
	Heartbeats, Reports, Messages, Failed int64
	FirstFailure                          string `json:",omitempty"`
}

// A ServerReport holds measurements of the server's process.
type ServerReport struct {
	PeakMemory int64         // bytes, resident
	Memory     int64         // at the end
	CPUTime    time.Duration // from its start to the end of the run
	PerPlaced  time.Duration // processor time per placed instance, from the first job on
	LogBytes   int64         // size of the log at the end
	DataBytes  int64         // size of log and snapshots
	Written    int64         // bytes written to the disk

	PlacedMemory int64       // resident memory when the last instance was placed
	Quiet        QuietReport // during Scenario.QuietFor
}

// A QuietReport holds the cost of an idle fleet.
type QuietReport struct {
	Took       time.Duration
	CPUTime    time.Duration // of the server
	Heartbeats int64
}

// StacksReport describes the stacks of a scenario.
type StacksReport struct {
	Units    int
	Deployed int // accepted deployments
	Refused  int // deployments whose dependencies no longer existed
	Stopped  int // callers that left
	Sweeps   int
	Verdicts map[string]int // of all sweeps, such as "kept called"
	States   map[string]int // stacks at the end, by status
	Accepted Latency        // from the request of a deployment to its answer
	Ready    Latency        // from the request until the stack is ready
	Marked   int            // stacks that sweeps made garbage
	// Violations describes marked stacks that had a caller, according to the dependencies that
	// the scenario deployed.
	Violations []string `json:",omitempty"`
}

// IsProven reports whether no stack with a caller was made garbage.
func (r *Report) IsProven() bool { return r.Stacks == nil || len(r.Stacks.Violations) == 0 }

// Fits reports whether all desired instances were placed.
func (r *Report) Fits() bool { return len(r.Waiting) == 0 && !r.Limit }
