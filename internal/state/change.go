// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

// A Table is one kind of stored object.
type Table uint8

// The tables. JobVersions and Scaling move their index without changes in the
// feed: what they hold is reached through the job.
const (
	TableJobs Table = iota
	TableJobVersions
	TableEvaluations
	TableAllocations
	TableNodes
	TableDeployments
	TableScaling
	TableSchedulerConfig
	TableNodePools
	TableDecisions
	TableRestarts
	TableDomains
	TableCallbacks
	tableCount
)

var tableNames = [tableCount]string{"jobs", "job versions", "evaluations", "allocations", "nodes", "deployments", "scaling", "scheduler configuration", "node pools", "decisions", "restarts", "domains", "callbacks"}

// String names the table.
func (t Table) String() string {
	if t < tableCount {
		return tableNames[t]
	}
	return "unknown"
}

// An Op is what happened to an object.
type Op uint8

// The operations.
const (
	Put Op = iota + 1
	Delete
)

// A Change is one object that changed. Old is nil for a new object, New for a
// deleted one. They are *api.Job, *api.Allocation, *api.Node, *api.Evaluation,
// *api.Deployment, *api.SchedulerConfig, *api.NodePool, *api.Decision,
// *api.JobRestart, *api.Domain or *api.Callback, as the table says.
type Change struct {
	Table    Table
	Op       Op
	Old, New any
	Cause    string // name of the command
}

// A Batch is everything that one log entry changed, in order. It is shared:
// do not change it.
type Batch struct {
	Index   uint64
	Changes []Change
	bytes   int // its weight in the feed
}
