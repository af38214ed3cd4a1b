// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// jobKey is a job's name as a controller's key.
func jobKey(id api.NamespacedID) string { return id.Namespace + "\x00" + id.ID }

func parseJobKey(key string) api.NamespacedID {
	ns, id, _ := strings.Cut(key, "\x00")
	return api.NamespacedID{Namespace: ns, ID: id}
}

// evaluatedSince reports whether the job has been, or is about to be, worked
// out on a state at least as new as the index. A pending evaluation may be
// under way on an older state; its end then touches the job again.
func evaluatedSince(snap *state.Snapshot, id api.NamespacedID, index uint64) bool {
	for e := range snap.EvaluationsByJob(id.Namespace, id.ID) {
		if e.Status == api.EvalStatusPending && e.WaitUntil.IsZero() || e.SnapshotIndex >= index {
			return true
		}
	}
	return false
}
