// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Scenario is what a file describes: a fleet, jobs, and what happens. Load
// reads one.
type Scenario struct {
	Name  string        `yaml:"name"`  // the file's name by default
	Seed  uint64        `yaml:"seed"`  // of everything that is drawn; 1 by default
	Limit time.Duration `yaml:"limit"` // the run ends then, settled or not; 5 m by default

	// QuietFor is how long the fleet then does nothing but send heartbeats, to
	// measure what that costs.
	QuietFor time.Duration `yaml:"quiet_for"`

	Until string `yaml:"until"` // running (all that was wanted and has room) or done (batch jobs have ended, too)

	Server Server      `yaml:"server"`
	Tasks  Tasks       `yaml:"tasks"`
	Nodes  []NodeGroup `yaml:"nodes"`
	Jobs   []JobGroup  `yaml:"jobs"`
	Events []Event     `yaml:"events"`

	file string
}

// Values of Scenario.Until.
const (
	untilRunning = "running"
	untilDone    = "done"
)

// Server is how the scenario's own server runs. Zero fields are its defaults.
type Server struct {
	HeartbeatTTL   time.Duration `yaml:"heartbeat_ttl"`
	HeartbeatGrace time.Duration `yaml:"heartbeat_grace"`
	Workers        int           `yaml:"workers"`
	Algorithm      string        `yaml:"algorithm"`    // binpack or spread
	Zone           string        `yaml:"zone"`         // attribute over which services are spread that ask for nothing
	Preempt        []string      `yaml:"preempt"`      // job types that may preempt; those of a new cluster if absent
	Starting       int           `yaml:"starting"`     // how many instances may be starting on a node
	MemoryLimit    string        `yaml:"memory_limit"` // the Go runtime's, such as 2GiB
}

// Tasks is how tasks behave beyond what their own config says.
type Tasks struct {
	Start   Range         `yaml:"start"`   // how long a task takes to start
	RunFor  time.Duration `yaml:"run_for"` // of tasks of batch jobs that are not the mock driver's; 10 s by default
	Fail    float64       `yaml:"fail"`    // share of runs that fail, 0 to 1
	FailIn  Range         `yaml:"fail_in"` // how long a run that fails lasts; 1 s to 10 s by default
	Forever bool          `yaml:"-"`       // nothing ends: only room is asked about
}

// A NodeGroup is a number of nodes that are alike.
type NodeGroup struct {
	Count      int               `yaml:"count"` // 1 by default
	Name       string            `yaml:"name"`  // nodes are NAME-1 and on
	Datacenter string            `yaml:"datacenter"`
	Class      string            `yaml:"class"`
	Pool       string            `yaml:"pool"`
	CPU        int64             `yaml:"cpu"`    // MHz; 4000 by default
	Cores      int               `yaml:"cores"`  // CPU/1000 by default
	Memory     int64             `yaml:"memory"` // MB; 8192 by default
	Disk       int64             `yaml:"disk"`   // MB; 100000 by default
	Attributes map[string]string `yaml:"attributes"`
	Meta       map[string]string `yaml:"meta"`
	Drivers    []string          `yaml:"drivers"` // beside mock; raw_exec, exec and docker by default
	Devices    []Device          `yaml:"devices"`
}

// A Device is what each node of a group has of one kind.
type Device struct {
	Vendor     string            `yaml:"vendor"`
	Type       string            `yaml:"type"`
	Name       string            `yaml:"name"`
	Count      int               `yaml:"count"` // 1 by default
	Attributes map[string]string `yaml:"attributes"`
}

// A JobGroup is one job file, registered once or several times.
type JobGroup struct {
	File   string            `yaml:"file"`   // relative to the scenario
	Copies int               `yaml:"copies"` // 1 by default; with more, ids get -1 and on
	Count  *int              `yaml:"count"`  // of every group, instead of the file's
	Vars   map[string]string `yaml:"vars"`
	At     time.Duration     `yaml:"at"`   // after all nodes are registered
	Over   time.Duration     `yaml:"over"` // copies are spread over this time

	job *api.Job
}

// An Event is one thing that happens to some nodes. Exactly one of its verbs is
// given.
type Event struct {
	At        time.Duration `yaml:"at"`        // after the nodes are registered
	Kill      *Selection    `yaml:"kill"`      // lose power
	Revive    *Selection    `yaml:"revive"`    // of those that were killed
	Partition *Selection    `yaml:"partition"` // cannot be reached, but go on
	Heal      *Selection    `yaml:"heal"`      // of those that were partitioned
	Drain     *Selection    `yaml:"drain"`     // are to be emptied
	Stop      string        `yaml:"stop"`      // a job, or all copies of one
	For       time.Duration `yaml:"for"`       // undone after this time: revive, heal
	Each      time.Duration `yaml:"each"`      // one node after the other, so far apart
	Deadline  time.Duration `yaml:"deadline"`  // of a drain; 1 h by default
}

// A Selection is a part of the fleet.
type Selection struct {
	Count   int               `yaml:"count"`   // at most so many, drawn with the seed; all by default
	Percent float64           `yaml:"percent"` // the same as a share of those that match
	Where   map[string]string `yaml:"where"`   // name, datacenter, class, pool, meta.X or attr.X: a glob
}

// A Range is a time that is drawn evenly between two bounds, written as "200ms"
// or "100ms..2s".
type Range struct {
	Min, Max time.Duration
}
