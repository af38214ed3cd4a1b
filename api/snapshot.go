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
