// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"strings"
	"testing"
)

// TestAggregate is the table of what a parent shows: children | candidates ->
// status. "held" means that an operator paused it.
func TestAggregate(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(`
		| -> COMPLETE
		COMPLETE COMPLETE | -> COMPLETE
		COMPLETE | held -> COMPLETE
		ERROR PENDING | PENDING held -> ERROR
		COMPLETE ERROR | -> ERROR
		COMPLETE PENDING | PENDING held -> WAITING
		DELAYED | DELAYED held -> WAITING
		DELAYED | DELAYED -> DELAYED
		DELAYED DELAYED | -> DELAYED
		COMPLETE DELAYED | DELAYED -> DELAYED
		DELAYED PENDING | DELAYED -> DELAYED
		DELAYED PENDING | DELAYED PENDING -> PENDING
		COMPLETE DELAYED PENDING | DELAYED PENDING -> IN_PROGRESS
		DELAYED STARTING | DELAYED STARTING -> STARTING
		PREPARED WAITING | PREPARED -> IN_PROGRESS
		PREPARED | -> IN_PROGRESS
		PENDING PENDING | PENDING -> PENDING
		STARTING PENDING | STARTING -> STARTING
		STARTING PENDING | STARTING PENDING -> PENDING
		STARTED PENDING | STARTED -> STARTED
		STARTED STARTING | STARTED STARTING -> STARTING
		COMPLETE PENDING | PENDING -> IN_PROGRESS
		COMPLETE STARTING | STARTING -> IN_PROGRESS
		COMPLETE STARTED | STARTED -> IN_PROGRESS
		WAITING PENDING | PENDING -> PENDING
		WAITING PENDING | -> WAITING
		COMPLETE WAITING | -> WAITING
		IN_PROGRESS WAITING | IN_PROGRESS WAITING -> WAITING
		WAITING IN_PROGRESS | IN_PROGRESS -> IN_PROGRESS
		COMPLETE PENDING | -> IN_PROGRESS
		PENDING | -> PENDING`), "\n") {
		left, want, _ := strings.Cut(strings.TrimSpace(line), "->")
		children, candidates, _ := strings.Cut(left, "|")
		candidates, held := strings.CutSuffix(strings.TrimSpace(candidates), "held")
		var all Tally
		for _, c := range strings.Fields(children) {
			all.Add(Status(c), false)
		}
		for _, c := range strings.Fields(candidates) {
			all.candidates |= MaskOf(Status(c))
		}
		got := all.status(held)
		if got != Status(strings.TrimSpace(want)) {
			t.Errorf("%s: got %s", strings.TrimSpace(line), got)
		}
	}
}
