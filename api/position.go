// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A Position is a place in the history of the servers' state. A log index alone
// is none: servers that were started on an older copy of their data reach the
// same index once more, with something else.
type Position struct {
	Timeline string // from one leader's beginning to the next one's; "": not known
	Index    uint64 // of the log
}
