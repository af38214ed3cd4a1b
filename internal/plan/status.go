// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// A Status says how far a step, phase or plan is.
type Status string

// Statuses. Only phases and plans are IN_PROGRESS.
const (
	Pending    Status = "PENDING"     // not done, nothing begun
	Waiting    Status = "WAITING"     // may not go on until an operator continues
	Prepared   Status = "PREPARED"    // a candidate; being placed, or blocked
	Starting   Status = "STARTING"    // placed or being stopped; no word from the node yet
	Started    Status = "STARTED"     // runs; not healthy or finished yet
	Complete   Status = "COMPLETE"    // reached
	Delayed    Status = "DELAYED"     // held back until a known time
	Error      Status = "ERROR"       // cannot succeed as it stands
	InProgress Status = "IN_PROGRESS" // some of it is complete
)
