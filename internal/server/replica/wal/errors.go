// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"fmt"
)

// DamageError reports that the disk does not contain the written data.
type DamageError struct {
	File    string
	Offset  int64
	Index   uint64 // the first entry that is damaged
	Problem string
}

// Error names the file, the place and the next step.
func (e *DamageError) Error() string {
	return fmt.Sprintf("log entry %d is damaged (%s, offset %d): %s; nothing was changed; "+
		"put the file back from a copy, or start with an empty data directory: in a cluster, remove this server and join again; a single server restores a snapshot", e.Index, e.File, e.Offset, e.Problem)
}

// errTornCreate reports that a crash interrupted the creation of a segment's file before
// its header was on the disk.
var errTornCreate = errors.New("segment was never begun")
