// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

// A Table is one kind of stored object.
type Table uint8

// Tables that refer to each other. Declared nouns add further tables. The index of
// JobVersions and Scaling changes without changes in the feed, because their content is
// reached through the job.
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

// maxTables is the maximum number of tables: a tableSet has one bit for each.
const maxTables = 64

// tableCount returns how many tables there are.
func tableCount() Table { return coreTables + Table(len(nouns)) }

var tableNames = [coreTables]string{"jobs", "job versions", "evaluations", "allocations", "nodes", "deployments", "scaling", "scheduler configuration", "decisions", "restarts", "callbacks"}

// String returns the name of the table.
func (t Table) String() string {
	switch {
	case t < coreTables:
		return tableNames[t]
	case t < tableCount():
		return nouns[t-coreTables].title()
	}
	return "unknown"
}

// isInFirstFormat reports whether snapshots have always contained the table's name.
// Snapshots name such a table even before its first write.
func (t Table) isInFirstFormat() bool { return t < coreTables || nouns[t-coreTables].isCounted() }

// An Op is a kind of change.
type Op uint8

// The operations.
const (
	Put Op = iota + 1
	Delete
)

// A Change is one changed object. Old is nil for a new object, New for a deleted one.
// Depending on the table, they are *api.Job, *api.Allocation, *api.Node, *api.Evaluation,
// *api.Deployment, *api.SchedulerConfig, *api.Decision, *api.JobRestart, *api.Callback, or
// a pointer to the type of a declared noun.
type Change struct {
	Table    Table
	Op       Op
	Old, New any
	Cause    string // name of the command
}

// A Batch holds all changes of one log entry, in order. It is shared: do not modify it.
type Batch struct {
	Index   uint64
	Changes []Change
	bytes   int // weight in the feed
}
