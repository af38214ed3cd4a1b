// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A Snapshot describes a file with a copy of the servers' state.
type Snapshot struct {
	Format    int       // of the file
	Version   string    // of the server that wrote it
	Server    string    // name of that server
	ClusterID string    // of the state
	Timeline  string    // of the state
	Index     uint64    // of the last change in the state
	Time      time.Time // when the file was written

	Jobs        int
	Nodes       int
	Evaluations int
	Deployments int
	Allocations int

	StateBytes int64 // size of the state in the file, without compression
}

// A RestoreResponse is the outcome of a restore.
type RestoreResponse struct {
	Snapshot *Snapshot
	Index    uint64   // of the restored state
	Timeline string   // begun by the restore
	Foreign  bool     // reports whether the snapshot belongs to another cluster
	Kept     []string // nouns of the cluster that the restore did not replace
}

// A SnapshotSchedule describes the scheduled snapshots of one server.
type SnapshotSchedule struct {
	Server     string // id
	Name       string // of the server
	Enabled    bool
	Directory  string        `json:",omitempty"`
	Interval   time.Duration `json:",omitempty"`
	Retain     int           `json:",omitempty"` // number of files kept
	LeaderOnly bool          `json:",omitempty"` // only the leader saves snapshots

	Last *SavedSnapshot `json:",omitempty"` // the newest one
	// Failure says why the last attempt failed, since FailedSince; "": it did not.
	Failure     string    `json:",omitempty"`
	FailedSince time.Time `json:",omitzero"`
}

// A SavedSnapshot is a file that a schedule saved.
type SavedSnapshot struct {
	File  string    // name in the directory of the schedule
	Time  time.Time // when it was saved
	Index uint64    // of the state
	Bytes int64     // size of the file
}
