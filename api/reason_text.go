// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "fmt"

// This file holds the sentences of all reasons. Descriptions are made here and nowhere
// else, and no code depends on their wording. Earlier versions stored sentences without
// reasons: internal/reasons/earlier.txt maps those sentences to reasons.

var reasonTexts = [...]string{
	ReasonUpdated:          "replaced by a newer version of the job",
	ReasonScaledDown:       "the group's count was lowered",
	ReasonDuplicate:        "another allocation holds its place",
	ReasonGroupRemoved:     "the group was taken out of the job",
	ReasonJobStopped:       "the job was stopped",
	ReasonPurged:           "the job was removed",
	ReasonOrphaned:         "no registered job wants it, and its domain is fresh",
	ReasonAdopted:          "found on its node; no registered job is known to want it",
	ReasonMoved:            "it was told to stop; its instance is started anew",
	ReasonMigrated:         "its node is drained; its instance is started anew",
	ReasonFailed:           "it failed; its instance is started anew",
	ReasonEnded:            "it ended; its instance is started anew",
	ReasonReplaced:         "replaced by an operator" + startedEmpty,
	ReasonNodeDown:         "its node is down",
	ReasonNodeRemoved:      "its node was removed",
	ReasonDisconnected:     "its node was out of reach for longer than lost_after",
	ReasonFenced:           "its node was out of reach for longer than stop_on_client_after, and has stopped it",
	ReasonReplacementKept:  "its node is back; the replacement goes on",
	ReasonOriginalKept:     "the original's node is back; the original goes on",
	ReasonSuperseded:       "another allocation is up in its place",
	ReasonFinishedByOther:  "another allocation has finished its work",
	ReasonEndedBesideOther: "it ended; another allocation goes on in its place",
	ReasonEvicted:          "it was told to stop, and its node takes nothing new",
	ReasonInfeasible:       "the job does not want its node any more",
	ReasonUnpromoted:       "its version was not promoted",
	ReasonGivenUp:          "given up by an operator",
	ReasonPreempted:        "preempted by another allocation",
}

// Text returns the sentence of the reason. The functions below complete the sentences of
// some reasons.
func (r Reason) Text() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r]
	}
	return ""
}

// startedEmpty completes the sentence of a replacement.
const startedEmpty = "; its instance is started anew, with an empty directory"

// ReplacedText completes ReasonReplaced with the operator's decision.
func ReplacedText(d *Decision) string { return d.Describe("replaced") + startedEmpty }

// GivenUpText completes ReasonGivenUp with the operator's decision.
func GivenUpText(d *Decision) string { return d.Describe("given up") }

// PreemptedText completes ReasonPreempted with the allocation that takes the room.
func PreemptedText(by *Allocation) string {
	return fmt.Sprintf("preempted by allocation %s of job %q, which has priority %d", ShortID(by.ID), by.JobID, by.Job.Priority)
}
