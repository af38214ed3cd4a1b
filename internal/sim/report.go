// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Report is what a run measured. Times are real; durations are nanoseconds in
// JSON.
type Report struct {
	Scenario string
	Seed     uint64
	Limit    bool // the time was up before everything was done

	Nodes     NodesReport
	Jobs      JobsReport
	Instances InstancesReport
	Events    []EventReport `json:",omitempty"`

	// From the first registration of a job until the last instance was on its
	// node, and until the servers knew of the last that it runs; without those
	// that replace others.
	AllPlaced           time.Duration
	AllRunning          time.Duration
	PlacementsPerSecond float64

	Placed   Latency // registered -> on its node
	Running  Latency // registered -> the servers know that it runs
	Replaced Latency // its node was lost -> a replacement is on another

	Capacity  []DimensionReport
	NodesUsed int            // that hold something at the end
	Spread    []SpreadReport `json:",omitempty"`

	Evaluations map[string]int  // by status
	Waiting     []WaitingReport `json:",omitempty"`

	Requests RequestsReport
	Server   *ServerReport `json:",omitempty"` // nil of a server that the run did not start
}

// NodesReport is about registering nodes.
type NodesReport struct {
	Registered int
	Took       time.Duration
	PerSecond  float64
}

// JobsReport is about registering jobs.
type JobsReport struct {
	Registered int
	Took       time.Duration // with the waiting for their times
}

// InstancesReport counts instances. Placed and Started are of all that were
// wanted first; the others are as it was at the end.
type InstancesReport struct {
	Wanted   int64 // of jobs that have a number
	Placed   int64
	Started  int64
	Running  int64
	Pending  int64
	Complete int64
	Failed   int64
	Waiting  int64 // for room
}

// EventReport is something that happened.
type EventReport struct {
	At   time.Duration
	What string
}

// Latency is how long things took.
type Latency struct {
	Count              int
	P50, P90, P99, Max time.Duration
}

// DimensionReport is how full the fleet is in one dimension. Stranded is what is
// free on nodes where nothing more fits: not even an instance of the group that
// asks for least.
type DimensionReport struct {
	Dimension string
	Capacity  int64
	Used      int64 // at the end
	Peak      int64
	Free      int64 // at the end, on nodes that are up
	Stranded  int64
}

// SpreadReport is how far a group is from the spread that it asks for, in
// instances: the most for any value, of all copies of the job.
type SpreadReport struct {
	Job, Group, Attribute string
	Copies                int
	Error                 float64 // the worst copy's
	MeanError             float64
	Example               map[string]int // instances by value, of the worst copy
}

// WaitingReport is what could not be placed, and why: copies of a job that wait
// for the same reasons are one.
type WaitingReport struct {
	Job, Group string
	Copies     int
	Instances  int
	Why        *api.PlacementMetrics // of the first copy's evaluation
	Explained  *api.GroupExplanation `json:",omitempty"` // of the first copy, at the end
}

// RequestsReport counts what the nodes sent.
type RequestsReport struct {
	Heartbeats, Reports, Messages, Failed int64
	FirstFailure                          string `json:",omitempty"`
}

// ServerReport is about the server's process.
type ServerReport struct {
	PeakMemory int64         // bytes, resident
	Memory     int64         // at the end
	CPUTime    time.Duration // from its start to the end of the run
	PerPlaced  time.Duration // processor time for each instance placed, from the first job on
	LogBytes   int64         // that the log takes at the end
	DataBytes  int64         // that log and snapshots take
	Written    int64         // bytes to the disk

	PlacedMemory int64       // resident when the last instance was placed
	Quiet        QuietReport // of Scenario.QuietFor
}

// QuietReport is what a fleet costs that does nothing.
type QuietReport struct {
	Took       time.Duration
	CPUTime    time.Duration // the server's
	Heartbeats int64
}

// Fits reports whether everything that was wanted found room.
func (r *Report) Fits() bool { return len(r.Waiting) == 0 && !r.Limit }
