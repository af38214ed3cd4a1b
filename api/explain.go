// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Filters: reasons that keep an instance off a node.
const (
	FilterStatus     = "status"     // the node is down, ineligible, draining...
	FilterPool       = "node pool"  // not in the job's pool
	FilterDatacenter = "datacenter" // not in the job's datacenters
	FilterDriver     = "driver"     // missing or unhealthy
	FilterNetwork    = "network"    // no networks for allocations
	FilterConstraint = "constraint" // not met
	FilterVolume     = "volume"     // a host volume is missing, or has a writer already
	FilterDistinct   = "distinct"   // distinct_hosts or distinct_property
	FilterResource   = "resource"   // not enough of a resource is free
	FilterPort       = "port"       // taken, or none left
	FilterStarting   = "starting"   // the maximum number of allocations is starting on the node
)

// An Obstacle is one reason why a node cannot take an instance of a group.
type Obstacle struct {
	Filter    string // one of the Filter constants
	Reason    string // in words
	Dimension string `json:",omitempty"` // of FilterResource: "cpu", "memory"...
	Needed    int64  `json:",omitempty"` // amount that one instance needs
	Free      int64  `json:",omitempty"` // amount free on the node
}

// An ObstacleCount is the number of nodes with one obstacle.
type ObstacleCount struct {
	Filter string
	Reason string
	Nodes  int
}

// A NodeExplanation reports whether one node can take one more instance of a group, and
// lists every obstacle if not.
type NodeExplanation struct {
	NodeID     string
	NodeName   string
	Datacenter string
	NodePool   string
	NodeClass  string
	Group      string
	Instances  int // instances of the group on the node
	Fits       bool
	Obstacles  []Obstacle // all obstacles, not only the first
}

// A GroupExplanation describes the placement of a job's group, and the nodes that can take
// one more instance of it.
type GroupExplanation struct {
	Group   string
	Count   int // instances wanted; of a system job: number of feasible nodes
	Placed  int // allocations that run or are to run
	Waiting int // instances that could not be placed
	Nodes   int // total number of nodes
	Fitting int // nodes that can take one more instance
	// Obstacles counts the obstacles by filter and reason, most nodes first. A node with
	// several obstacles counts in each.
	Obstacles []ObstacleCount
	// Nearest lists the nodes that are closest to fitting, nearest first.
	Nearest []*NodeExplanation
	// Quota lists the limits of quotas that one more instance would exceed.
	Quota []string `json:",omitempty"`
}

// A JobExplanation explains why instances of a job are not placed.
type JobExplanation struct {
	Namespace string
	JobID     string
	Version   uint64
	Status    string
	Groups    []*GroupExplanation
	// BlockedEval is the id of the evaluation that waits to place instances; "" if none
	// waits.
	BlockedEval string
	// Unblock describes the changes that would let it continue.
	Unblock []string
}

// DimensionStarting is the dimension of a node on which the maximum number of allocations
// is starting.
const DimensionStarting = "starting instances"

// DimensionUnit returns the unit of a resource dimension with a leading space, or "" for
// countable things.
func DimensionUnit(dimension string) string {
	switch dimension {
	case "cpu":
		return " MHz"
	case "memory", "disk":
		return " MiB"
	}
	return ""
}
