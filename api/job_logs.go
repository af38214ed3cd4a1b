// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Events of the output of a task.
const (
	LogsBegin  = "begin"  // its output follows
	LogsEnd    = "end"    // the task has ended, and all of its output was sent
	LogsFailed = "failed" // its output cannot be read; with follow, the server tries again
)

// A JobLogFrame is a part of the output of one task of a job, or says what became of that output. A
// frame without fields is a heartbeat.
type JobLogFrame struct {
	Allocation string `json:",omitempty"` // id
	Instance   string `json:",omitempty"` // such as web-0; of a job on every node, web@ and the node
	Task       string `json:",omitempty"`
	Type       string `json:",omitempty"` // stdout or stderr
	Time       int64  `json:",omitempty"` // when the server received the part, in Unix nanoseconds

	File   string `json:",omitempty"` // of the allocation, that contains Data
	Offset int64  `json:",omitempty"` // in File of the byte after Data
	Data   []byte `json:",omitempty"` // whole lines are not guaranteed

	Event string `json:",omitempty"` // one of the Logs events, or that of a StreamFrame
	Error string `json:",omitempty"` // why, with LogsFailed
	// LeftOut is the number of allocations whose output is not sent because there are too many; only in the
	// first frame.
	LeftOut int `json:",omitempty"`
}
