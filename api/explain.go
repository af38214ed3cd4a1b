// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Filters: what can keep an instance from a node.
const (
	FilterStatus     = "status"     // the node is down, ineligible, draining...
	FilterPool       = "node pool"  // of another pool than the job's
	FilterDatacenter = "datacenter" // in none of the job's
	FilterDriver     = "driver"     // missing or unhealthy
	FilterConstraint = "constraint" // not met
	FilterDistinct   = "distinct"   // distinct_hosts or distinct_property
	FilterResource   = "resource"   // too little of a dimension is free
	FilterPort       = "port"       // taken, or none left
	FilterStarting   = "starting"   // as many as may are starting on the node
)

// An Obstacle is one reason why a node cannot take an instance of a group.
type Obstacle struct {
	Filter    string // one of the Filter constants
	Reason    string // in words
	Dimension string `json:",omitempty"` // of FilterResource: "cpu", "memory"...
	Needed    int64  `json:",omitempty"` // of the dimension, for one instance
	Free      int64  `json:",omitempty"` // of the dimension, on the node
}

// An ObstacleCount is how many nodes one obstacle keeps an instance from.
type ObstacleCount struct {
	Filter string
	Reason string
	Nodes  int
}

// A NodeExplanation says whether one node could take one more instance of a
// group, and everything that is in the way if not.
type NodeExplanation struct {
	NodeID     string
	NodeName   string
	Datacenter string
	NodePool   string
	NodeClass  string
	Group      string
	Instances  int // of the group that are on the node already
	Fits       bool
	Obstacles  []Obstacle // all there are, not only the first
}

// A GroupExplanation says how a group of a job stands, and which nodes could
// take one more instance of it.
type GroupExplanation struct {
	Group   string
	Count   int // instances wanted; of a system job: nodes that suit
	Placed  int // allocations that run or are to
	Waiting int // instances that could not be placed
	Nodes   int // all there are
	Fitting int // those that could take one more instance
	// Obstacles counts what is in the way, by filter and reason, most nodes
	// first. A node with several obstacles is counted in each.
	Obstacles []ObstacleCount
	// Nearest are nodes that do not fit and lack least, nearest first.
	Nearest []*NodeExplanation
}

// A JobExplanation says why instances of a job are not placed.
type JobExplanation struct {
	Namespace string
	JobID     string
	Version   uint64
	Status    string
	Groups    []*GroupExplanation
	// BlockedEval waits with what could not be placed; "" if nothing waits.
	BlockedEval string
	// Unblock says in words what would let it go on.
	Unblock []string
}

// DimensionStarting is what a node lacks where as many allocations are starting
// as may at once.
const DimensionStarting = "instances starting at once"

// DimensionUnit is the unit of a resource dimension, with a space before it; ""
// for things that are counted.
func DimensionUnit(dimension string) string {
	switch dimension {
	case "cpu":
		return " MHz"
	case "memory", "disk":
		return " MiB"
	}
	return ""
}
