// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A Position is a position in the history of the servers' state. A log index alone does
// not identify a position: servers that were restarted from an older copy of their data
// reach the same index again, with different entries.
type Position struct {
	Timeline string // timeline of one leader; "": unknown
	Index    uint64 // log index
}
