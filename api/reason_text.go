// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
)

// This file holds the sentences of all reasons. Descriptions are made here and nowhere
// else, and no code depends on their wording. Earlier versions stored sentences without
// reasons: internal/reasons/earlier.txt maps those sentences to reasons.

var reasonTexts = [...]string{
	ReasonUpdated:          "replaced by a newer version of the job",
	ReasonScaledDown:       "the group's count was lowered",
	ReasonDuplicate:        "another allocation holds its place",
	ReasonGroupRemoved:     "the group was removed from the job",
	ReasonJobStopped:       "the job was stopped",
	ReasonPurged:           "the job was removed",
	ReasonOrphaned:         "no registered job specifies it, and its domain is fresh",
	ReasonAdopted:          "found on its node; no known registered job specifies it",
	ReasonMoved:            "stopped on request; its instance is started again",
	ReasonMigrated:         "its node is drained; its instance is started again",
	ReasonFailed:           "it failed; its instance is started again",
	ReasonEnded:            "it ended; its instance is started again",
	ReasonReplaced:         "replaced by an operator" + startedEmpty,
	ReasonNodeDown:         "its node is down",
	ReasonNodeRemoved:      "its node was removed",
	ReasonDisconnected:     "its node was out of reach for longer than lost_after",
	ReasonFenced:           "its node was out of reach for longer than stop_on_client_after, and has stopped it",
	ReasonReplacementKept:  "its node is back; the replacement continues",
	ReasonOriginalKept:     "the original's node is back; the original continues",
	ReasonSuperseded:       "another allocation is up in its place",
	ReasonFinishedByOther:  "another allocation has finished its work",
	ReasonEndedBesideOther: "it ended; another allocation continues in its place",
	ReasonEvicted:          "stopped on request; its node accepts no new allocations",
	ReasonInfeasible:       "its node no longer qualifies for the job",
	ReasonUnpromoted:       "its version was not promoted",
	ReasonGivenUp:          "given up by an operator",
	ReasonPreempted:        "preempted by another allocation",

	ReasonDeploymentRunning:          "Deployment is running",
	ReasonDeploymentNeedsPromotion:   "Deployment is running but requires manual promotion",
	ReasonDeploymentAutoPromotes:     "Deployment is running pending automatic promotion",
	ReasonDeploymentPaused:           "Deployment is paused",
	ReasonDeploymentSuccessful:       "Deployment completed successfully",
	ReasonDeploymentSuperseded:       "Cancelled due to newer version of job",
	ReasonDeploymentJobStopped:       "Cancelled because job is stopped",
	ReasonDeploymentDeadline:         "Failed due to progress deadline",
	ReasonDeploymentExhausted:        "Failed because an instance failed too often",
	ReasonDeploymentUnhealthy:        "Failed due to unhealthy allocations",
	ReasonDeploymentFailedByOperator: "Deployment marked as failed",

	ReasonRestartRunning:    "Restart is running",
	ReasonRestartPaused:     "paused",
	ReasonRestartResumed:    "resumed",
	ReasonRestartCancelled:  "cancelled",
	ReasonRestartJobStopped: "Cancelled because the job is stopped",
	ReasonRestartDeployed:   "Cancelled by a deployment of the job",
	ReasonRestartFailed:     "Failed",
	ReasonRestartTripped:    "Paused",
	ReasonRestartComplete:   "Restarted all allocations",

	ReasonEvalReschedule:      "starts failed instances again after their delay",
	ReasonEvalMaxDisconnect:   "gives up allocations whose node is out of reach by then",
	ReasonEvalRestartBatch:    "begins the next batch of a restart",
	ReasonEvalRecoverAnywhere: "recovers instances anywhere that could not be recovered on their nodes",
	ReasonEvalNoRoom:          "waits for room for the unplaced instances",
	ReasonEvalJoined:          "evaluated together with another evaluation",
	ReasonEvalJobStopped:      "the job was stopped",
	ReasonEvalJobFailed:       "the job has failed",
	ReasonEvalRejected:        "all placements were refused",
	ReasonEvalAttemptsFailed:  "not evaluated",
	ReasonEvalSuperseded:      "superseded by a newer blocked evaluation of the job",
	ReasonEvalUnblocked:       "unblocked by hand",

	ReasonStackWaitsTurn:         "waits for its turn to deploy",
	ReasonStackFromSubmission:    "deployed from a stored submission",
	ReasonStackDeploying:         "its job is registered",
	ReasonStackDeployed:          "its first deployment is complete",
	ReasonStackRegistered:        "registered; waits for its turn to receive traffic",
	ReasonStackWaitsHealth:       "waits until most of its instances are healthy",
	ReasonStackWaitsShift:        "waits for the end of another shift",
	ReasonStackWaitsEarlier:      "waits for an earlier version, which is promoted first",
	ReasonStackFirst:             "first of its major version: it receives all traffic",
	ReasonStackLower:             "a higher version, or one that is not deprecated, receives the traffic",
	ReasonStackNoTraffic:         "ready without traffic, as its shift policy says",
	ReasonStackShift:             "traffic shifts to it",
	ReasonStackPortless:          "deployed; it has no port, so nothing warms it",
	ReasonStackRescued:           "rescued from garbage",
	ReasonStackJobMissing:        "its submitted job is not stored",
	ReasonStackJobRejected:       "its job was rejected",
	ReasonStackJobFailed:         "its job has failed",
	ReasonStackDeploymentFailed:  "its deployment failed",
	ReasonStackOvertaken:         "overtaken by a newer version, which is healthy",
	ReasonStackLate:              "not ready at its deadline",
	ReasonStackUncalled:          "no caller",
	ReasonStackOutdated:          "newer versions replace it",
	ReasonStackVersionDeprecated: "its version is deprecated",
	ReasonStackCrowded:           "its unit has more stacks than max_stacks",
	ReasonStackStopped:           "stopped",
	ReasonStackRemovalWaits:      "its removal waits for nodes that do not answer",
	ReasonStackJobStopped:        "its job was stopped",
	ReasonStackRemoved:           "removed",
	ReasonStackUnconfirmed:       "removed; a node that does not answer has not confirmed the end of its instances",
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
const startedEmpty = "; its instance is started again, with an empty directory"

// ReplacedText completes ReasonReplaced with the operator's decision.
func ReplacedText(d *Decision) string { return d.Describe("replaced") + startedEmpty }

// GivenUpText completes ReasonGivenUp with the operator's decision.
func GivenUpText(d *Decision) string { return d.Describe("given up") }

// PreemptedText completes ReasonPreempted with the allocation that takes the room.
func PreemptedText(by *Allocation) string {
	return fmt.Sprintf("preempted by allocation %s of job %q, which has priority %d", ShortID(by.ID), by.JobID, by.Job.Priority)
}

// PausedText completes ReasonDeploymentPaused with the operator and the operator's reason,
// which may be "".
func PausedText(by, reason string) string {
	text := ReasonDeploymentPaused.Text()
	if by != "" {
		text += " by " + by
	}
	return text + inBrackets(reason)
}

// RevertText completes the reason of a failed deployment with the version to which the job
// returns.
func RevertText(r Reason, version uint64) string {
	return fmt.Sprintf("%s - rolling back to job version %d", r.Text(), version)
}

// RestartChangedText completes a reason of a restart with the operator who paused, resumed
// or cancelled it, and the operator's reason, which may be "".
func RestartChangedText(r Reason, by, reason string) string {
	return r.Text() + " by " + by + inBrackets(reason)
}

// RestartDeployedText completes ReasonRestartDeployed with the version that is deployed.
func RestartDeployedText(version uint64) string {
	return fmt.Sprintf("Cancelled because version %d of the job is deployed", version)
}

// RestartCancelledText completes ReasonRestartDeployed with the deployment that cancelled
// the restart.
func RestartCancelledText(d *Deployment) string {
	return fmt.Sprintf("cancelled by deployment %s of version %d", ShortID(d.ID), d.JobVersion)
}

// RestartProgressText completes ReasonRestartFailed, ReasonRestartTripped and
// ReasonRestartComplete with the numbers of allocations.
func RestartProgressText(r Reason, j *JobRestart) string {
	unhealthy := countAllocations(len(j.UnhealthyAllocs)) + " did not become healthy again"
	switch {
	case r == ReasonRestartFailed:
		return "Failed because " + unhealthy
	case r == ReasonRestartTripped:
		return "Paused because " + unhealthy + ": resume it to continue"
	case len(j.UnhealthyAllocs) == 0:
		return "Restarted " + countAllocations(len(j.RestartedAllocs))
	}
	return "Restarted " + countAllocations(len(j.RestartedAllocs)) + "; " + unhealthy
}

// EvalJoinedText completes ReasonEvalJoined with the id of the evaluation that did the work.
func EvalJoinedText(id string) string {
	return "evaluated together with evaluation " + ShortID(id)
}

// EvalRejectedText completes ReasonEvalRejected with the number of attempts and the causes
// of their rejections.
func EvalRejectedText(attempts int, causes []string) string {
	return fmt.Sprintf("placements were refused %d times in a row (%s)", attempts, strings.Join(causes, "; "))
}

// EvalAttemptsText completes ReasonEvalAttemptsFailed with the number of attempts, the last
// error ("" if unknown) and the id of the evaluation that retries.
func EvalAttemptsText(attempts int, last, next string) string {
	if last != "" {
		last = ", at last because of: " + last
	}
	return fmt.Sprintf("not evaluated in %d attempts%s; evaluation %s tries again", attempts, last, ShortID(next))
}

func inBrackets(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func countAllocations(n int) string {
	if n == 1 {
		return "1 allocation"
	}
	return fmt.Sprintf("%d allocations", n)
}
