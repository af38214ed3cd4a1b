// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Scenario describes a fleet, jobs and events. Load loads one from a file.
type Scenario struct {
	Name  string        `yaml:"name"`  // default: the file's name
	Seed  uint64        `yaml:"seed"`  // seed of all random values; default: 1
	Limit time.Duration `yaml:"limit"` // maximum length of the run; default: 5m

	// QuietFor is the time for which the fleet is then idle except for heartbeats, to
	// measure the cost.
	QuietFor time.Duration `yaml:"quiet_for"`

	Until string `yaml:"until"` // running (all placeable instances run) or done (batch jobs have ended, too)

	Server Server      `yaml:"server"`
	Tasks  Tasks       `yaml:"tasks"`
	Nodes  []NodeGroup `yaml:"nodes"`
	Jobs   []JobGroup  `yaml:"jobs"`
	Events []Event     `yaml:"events"`
	Stacks *Stacks     `yaml:"stacks"`

	file string
}

// Values of Scenario.Until.
const (
	untilRunning = "running"
	untilDone    = "done"
)

// Server configures the scenario's own server. Zero fields mean its defaults.
type Server struct {
	HeartbeatTTL   time.Duration `yaml:"heartbeat_ttl"`
	HeartbeatGrace time.Duration `yaml:"heartbeat_grace"`
	Workers        int           `yaml:"workers"`
	Algorithm      string        `yaml:"algorithm"`    // binpack or spread
	Zone           string        `yaml:"zone"`         // attribute over which services without a spread are spread
	Preempt        []string      `yaml:"preempt"`      // job types that may preempt; default: those of a new cluster
	Starting       int           `yaml:"starting"`     // maximum number of starting instances per node
	MemoryLimit    string        `yaml:"memory_limit"` // memory limit of the Go runtime, such as 2GiB
}

// Tasks configures the behaviour of tasks beyond their own config.
type Tasks struct {
	Start   Range         `yaml:"start"`   // delay until a task has started
	RunFor  time.Duration `yaml:"run_for"` // running time of batch tasks without the mock driver; default: 10s
	Fail    float64       `yaml:"fail"`    // share of runs that fail, 0 to 1
	FailIn  Range         `yaml:"fail_in"` // length of a failing run; default: 1s to 10s
	Forever bool          `yaml:"-"`       // tasks never end: only the fit is of interest
}

// A NodeGroup is a number of equal nodes.
type NodeGroup struct {
	Count      int               `yaml:"count"` // default: 1
	Name       string            `yaml:"name"`  // prefix of the nodes' names: NAME-1, ...
	Datacenter string            `yaml:"datacenter"`
	Class      string            `yaml:"class"`
	Pool       string            `yaml:"pool"`
	CPU        int64             `yaml:"cpu"`    // MHz; default: 4000
	Cores      int               `yaml:"cores"`  // default: CPU/1000
	Memory     int64             `yaml:"memory"` // MB; default: 8192
	Disk       int64             `yaml:"disk"`   // MB; default: 100000
	Attributes map[string]string `yaml:"attributes"`
	Meta       map[string]string `yaml:"meta"`
	Drivers    []string          `yaml:"drivers"` // in addition to mock; default: raw_exec, exec and docker
	Devices    []Device          `yaml:"devices"`
}

// A Device describes the devices of one kind on each node of a group.
type Device struct {
	Vendor     string            `yaml:"vendor"`
	Type       string            `yaml:"type"`
	Name       string            `yaml:"name"`
	Count      int               `yaml:"count"` // default: 1
	Attributes map[string]string `yaml:"attributes"`
}

// A JobGroup is one job file, registered once or several times.
type JobGroup struct {
	File   string            `yaml:"file"`   // relative to the scenario
	Copies int               `yaml:"copies"` // default: 1; several copies have the suffixes -1, -2, ...
	Count  *int              `yaml:"count"`  // count of every group; default: the file's
	Vars   map[string]string `yaml:"vars"`
	At     time.Duration     `yaml:"at"`   // time after the registration of all nodes
	Over   time.Duration     `yaml:"over"` // period over which the copies are registered

	job *api.Job
}

// Stacks describes units whose versions are deployed as stacks. They call each other.
type Stacks struct {
	File string            `yaml:"file"` // job file of a unit, relative to the scenario
	Vars map[string]string `yaml:"vars"`
	// Namespaces are created for the run. The first one has the first version of every unit, and contains the
	// others, whose callers use its stacks until they have their own. Default: default.
	Namespaces []string `yaml:"namespaces"`

	Units   int           `yaml:"units"`   // number of units; default: 10
	Depends *int          `yaml:"depends"` // most dependencies of a version; default: 2
	Every   time.Duration `yaml:"every"`   // time between two deployments; default: 1s
	For     time.Duration `yaml:"for"`     // time of deployments after the first versions; default: 30s
	Sweep   time.Duration `yaml:"sweep"`   // time between two sweeps; default: 2s
	Leave   float64       `yaml:"leave"`   // share of deployments in place of which a caller is stopped, 0 to 1

	job *api.Job
}

// An Event is an event that affects some nodes. It has exactly one verb.
type Event struct {
	At        time.Duration `yaml:"at"`        // time after the registration of the nodes
	Kill      *Selection    `yaml:"kill"`      // lose power
	Revive    *Selection    `yaml:"revive"`    // restore the power of killed nodes
	Partition *Selection    `yaml:"partition"` // disconnect nodes, which keep running
	Heal      *Selection    `yaml:"heal"`      // reconnect partitioned nodes
	Drain     *Selection    `yaml:"drain"`     // drain nodes
	Stop      string        `yaml:"stop"`      // a job, or all copies of one
	For       time.Duration `yaml:"for"`       // time after which it is reversed by revive or heal
	Each      time.Duration `yaml:"each"`      // interval between nodes, one after the other
	Deadline  time.Duration `yaml:"deadline"`  // of a drain; default: 1h
}

// A Selection selects a part of the fleet.
type Selection struct {
	Count   int               `yaml:"count"`   // maximum number, drawn with the seed; default: all
	Percent float64           `yaml:"percent"` // the same as a share of the matching nodes
	Where   map[string]string `yaml:"where"`   // globs by name, datacenter, class, pool, meta.X or attr.X
}

// A Range is a duration that is drawn uniformly between two bounds, written as "200ms" or
// "100ms..2s".
type Range struct {
	Min, Max time.Duration
}
