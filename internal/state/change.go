// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

// A Table is one kind of stored object.
type Table uint8

// Tables that refer to each other. Further ones belong to declared nouns.
// JobVersions and Scaling move their index without changes in the feed: what they
// hold is reached through the job.
const (
	TableJobs Table = iota
	TableJobVersions
	TableEvaluations
	TableAllocations
	TableNodes
	TableDeployments
	TableScaling
	TableSchedulerConfig
	TableDecisions
	TableRestarts
	TableCallbacks
	coreTables
)

// maxTables bounds how many tables there are: a tableSet has a bit for each.
const maxTables = 64

// tableCount returns how many tables there are.
func tableCount() Table { return coreTables + Table(len(nouns)) }

var tableNames = [coreTables]string{"jobs", "job versions", "evaluations", "allocations", "nodes", "deployments", "scaling", "scheduler configuration", "decisions", "restarts", "callbacks"}

// String names the table.
func (t Table) String() string {
	switch {
	case t < coreTables:
		return tableNames[t]
	case t < tableCount():
		return nouns[t-coreTables].title()
	}
	return "unknown"
}

// isInFirstFormat reports whether snapshots have always named the table, so that
// they name it even before it was ever written.
func (t Table) isInFirstFormat() bool { return t < coreTables || nouns[t-coreTables].isCounted() }

// An Op is what happened to an object.
type Op uint8

// The operations.
const (
	Put Op = iota + 1
	Delete
)

// A Change is one object that changed. Old is nil for a new object, New for a
// deleted one. They are *api.Job, *api.Allocation, *api.Node, *api.Evaluation,
// *api.Deployment, *api.SchedulerConfig, *api.Decision, *api.JobRestart,
// *api.Callback, or a pointer to the type of a declared noun, as the table says.
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
