// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A Reason is the cause of an object's desired status or status: a code that programs may
// branch on. Descriptions state the same cause as a sentence for people, and their wording
// may change. In JSON a reason is its name.
//
// The numbers are part of the log and snapshot formats: never change or reuse one.
type Reason uint8

// Reasons of an allocation's desired status.
const (
	ReasonUpdated          Reason = 1  // a newer version of the job replaces it
	ReasonScaledDown       Reason = 2  // the count of its group was lowered
	ReasonDuplicate        Reason = 3  // another allocation holds its instance
	ReasonGroupRemoved     Reason = 4  // the job no longer has its group
	ReasonJobStopped       Reason = 5  // the job was stopped
	ReasonPurged           Reason = 6  // the job was purged
	ReasonOrphaned         Reason = 7  // no registered job specifies it, and its domain is fresh
	ReasonAdopted          Reason = 8  // found on its node without a registered job; it continues to run
	ReasonMoved            Reason = 9  // an operator or a controller moves it
	ReasonMigrated         Reason = 10 // its node is drained
	ReasonFailed           Reason = 11 // it failed, and is rescheduled
	ReasonEnded            Reason = 12 // it ended, and is started again
	ReasonReplaced         Reason = 13 // an operator replaced it
	ReasonNodeDown         Reason = 14 // its node is down
	ReasonNodeRemoved      Reason = 15 // its node was removed
	ReasonDisconnected     Reason = 16 // its node was disconnected for longer than lost_after
	ReasonFenced           Reason = 17 // its disconnected node stopped it after stop_on_client_after
	ReasonReplacementKept  Reason = 18 // its node is connected again, and its replacement continues
	ReasonOriginalKept     Reason = 19 // the original's node is connected again, and the original continues
	ReasonSuperseded       Reason = 20 // another allocation of its instance runs
	ReasonFinishedByOther  Reason = 21 // another allocation has finished the work of its instance
	ReasonEndedBesideOther Reason = 22 // it ended, and another allocation of its instance continues
	ReasonEvicted          Reason = 23 // it is moved, and its node accepts no new allocation
	ReasonInfeasible       Reason = 24 // its node no longer satisfies the job
	ReasonUnpromoted       Reason = 25 // it is a canary of a version that was not promoted
	ReasonGivenUp          Reason = 26 // an operator gave it up
	ReasonPreempted        Reason = 27 // an allocation with a higher priority needs its room
)

// Reasons of a deployment's status.
const (
	ReasonDeploymentRunning          Reason = 40
	ReasonDeploymentNeedsPromotion   Reason = 41 // an operator must promote canaries
	ReasonDeploymentAutoPromotes     Reason = 42 // canaries are promoted when all are healthy
	ReasonDeploymentPaused           Reason = 43
	ReasonDeploymentSuccessful       Reason = 44
	ReasonDeploymentSuperseded       Reason = 45 // the job has a newer version
	ReasonDeploymentJobStopped       Reason = 46
	ReasonDeploymentDeadline         Reason = 47 // no progress within progress_deadline
	ReasonDeploymentExhausted        Reason = 48 // an instance used up its attempts
	ReasonDeploymentUnhealthy        Reason = 49 // an allocation is unhealthy
	ReasonDeploymentFailedByOperator Reason = 50
)

// Reasons of a restart's status.
const (
	ReasonRestartRunning    Reason = 60
	ReasonRestartPaused     Reason = 61 // by an operator
	ReasonRestartResumed    Reason = 62
	ReasonRestartCancelled  Reason = 63 // by an operator
	ReasonRestartJobStopped Reason = 64
	ReasonRestartDeployed   Reason = 65 // a deployment of the job cancelled it
	ReasonRestartFailed     Reason = 66 // too many allocations did not become healthy
	ReasonRestartTripped    Reason = 67 // the same, and it is paused
	ReasonRestartComplete   Reason = 68
)

// Reasons of an evaluation's status.
const (
	ReasonEvalReschedule      Reason = 80 // starts failed instances after their delay
	ReasonEvalMaxDisconnect   Reason = 81 // gives up allocations of disconnected nodes
	ReasonEvalRestartBatch    Reason = 82 // starts the next batch of a restart
	ReasonEvalRecoverAnywhere Reason = 83 // recovers instances that could not stay on their nodes
	ReasonEvalNoRoom          Reason = 84 // no node has room for some instances
	ReasonEvalJoined          Reason = 85 // another evaluation of the job did its work
	ReasonEvalJobStopped      Reason = 86
	ReasonEvalJobFailed       Reason = 87
	ReasonEvalRejected        Reason = 88 // the applier rejected all of its placements
	ReasonEvalAttemptsFailed  Reason = 89 // all attempts to evaluate failed
	ReasonEvalSuperseded      Reason = 90 // the job has a newer blocked evaluation
	ReasonEvalUnblocked       Reason = 91 // by an operator
)

// Reasons of a stack's status.
const (
	ReasonStackWaitsTurn         Reason = 100 // pending: other stacks deploy, or a dependency is not ready
	ReasonStackFromSubmission    Reason = 101 // pending: deployed with -from
	ReasonStackDeploying         Reason = 102
	ReasonStackDeployed          Reason = 103
	ReasonStackRegistered        Reason = 104 // a stack outside of Reeve
	ReasonStackWaitsHealth       Reason = 105
	ReasonStackWaitsShift        Reason = 106
	ReasonStackWaitsEarlier      Reason = 107
	ReasonStackFirst             Reason = 108
	ReasonStackLower             Reason = 109
	ReasonStackNoTraffic         Reason = 110
	ReasonStackShift             Reason = 111
	ReasonStackPortless          Reason = 112
	ReasonStackRescued           Reason = 113
	ReasonStackJobMissing        Reason = 114
	ReasonStackJobRejected       Reason = 115 // something changed between the deployment and its turn
	ReasonStackJobFailed         Reason = 116
	ReasonStackDeploymentFailed  Reason = 117
	ReasonStackOvertaken         Reason = 118
	ReasonStackLate              Reason = 119
	ReasonStackUncalled          Reason = 120
	ReasonStackOutdated          Reason = 121
	ReasonStackVersionDeprecated Reason = 122
	ReasonStackCrowded           Reason = 123
	ReasonStackStopped           Reason = 124 // by an operator
	ReasonStackRemovalWaits      Reason = 125
	ReasonStackJobStopped        Reason = 126
	ReasonStackRemoved           Reason = 127
	ReasonStackUnconfirmed       Reason = 128 // removed, while a silent node may still run instances
)

var reasonNames = [...]string{
	ReasonUpdated: "updated", ReasonScaledDown: "scaled_down", ReasonDuplicate: "duplicate", ReasonGroupRemoved: "group_removed",
	ReasonJobStopped: "job_stopped", ReasonPurged: "purged", ReasonOrphaned: "orphaned", ReasonAdopted: "adopted",
	ReasonMoved: "moved", ReasonMigrated: "migrated", ReasonFailed: "failed", ReasonEnded: "ended", ReasonReplaced: "replaced",
	ReasonNodeDown: "node_down", ReasonNodeRemoved: "node_removed", ReasonDisconnected: "disconnected", ReasonFenced: "fenced",
	ReasonReplacementKept: "replacement_kept", ReasonOriginalKept: "original_kept", ReasonSuperseded: "superseded",
	ReasonFinishedByOther: "finished_by_other", ReasonEndedBesideOther: "ended_beside_other", ReasonEvicted: "evicted",
	ReasonInfeasible: "infeasible", ReasonUnpromoted: "unpromoted", ReasonGivenUp: "given_up", ReasonPreempted: "preempted",

	ReasonDeploymentRunning: "deployment_running", ReasonDeploymentNeedsPromotion: "deployment_needs_promotion",
	ReasonDeploymentAutoPromotes: "deployment_auto_promotes", ReasonDeploymentPaused: "deployment_paused",
	ReasonDeploymentSuccessful: "deployment_successful", ReasonDeploymentSuperseded: "deployment_superseded",
	ReasonDeploymentJobStopped: "deployment_job_stopped", ReasonDeploymentDeadline: "deployment_deadline",
	ReasonDeploymentExhausted: "deployment_exhausted", ReasonDeploymentUnhealthy: "deployment_unhealthy",
	ReasonDeploymentFailedByOperator: "deployment_failed_by_operator",

	ReasonRestartRunning: "restart_running", ReasonRestartPaused: "restart_paused", ReasonRestartResumed: "restart_resumed",
	ReasonRestartCancelled: "restart_cancelled", ReasonRestartJobStopped: "restart_job_stopped", ReasonRestartDeployed: "restart_deployed",
	ReasonRestartFailed: "restart_failed", ReasonRestartTripped: "restart_tripped", ReasonRestartComplete: "restart_complete",

	ReasonEvalReschedule: "eval_reschedule", ReasonEvalMaxDisconnect: "eval_max_disconnect", ReasonEvalRestartBatch: "eval_restart_batch",
	ReasonEvalRecoverAnywhere: "eval_recover_anywhere", ReasonEvalNoRoom: "eval_no_room", ReasonEvalJoined: "eval_joined",
	ReasonEvalJobStopped: "eval_job_stopped", ReasonEvalJobFailed: "eval_job_failed", ReasonEvalRejected: "eval_rejected",
	ReasonEvalAttemptsFailed: "eval_attempts_failed", ReasonEvalSuperseded: "eval_superseded", ReasonEvalUnblocked: "eval_unblocked",

	ReasonStackWaitsTurn: "stack_waits_turn", ReasonStackFromSubmission: "stack_from_submission", ReasonStackDeploying: "stack_deploying",
	ReasonStackDeployed: "stack_deployed", ReasonStackRegistered: "stack_registered", ReasonStackWaitsHealth: "stack_waits_health",
	ReasonStackWaitsShift: "stack_waits_shift", ReasonStackWaitsEarlier: "stack_waits_earlier", ReasonStackFirst: "stack_first",
	ReasonStackLower: "stack_lower", ReasonStackNoTraffic: "stack_no_traffic", ReasonStackShift: "stack_shift",
	ReasonStackPortless: "stack_portless", ReasonStackRescued: "stack_rescued", ReasonStackJobMissing: "stack_job_missing",
	ReasonStackJobRejected: "stack_job_rejected", ReasonStackJobFailed: "stack_job_failed", ReasonStackDeploymentFailed: "stack_deployment_failed",
	ReasonStackOvertaken: "stack_overtaken", ReasonStackLate: "stack_late", ReasonStackUncalled: "stack_uncalled",
	ReasonStackOutdated: "stack_outdated", ReasonStackVersionDeprecated: "stack_version_deprecated", ReasonStackCrowded: "stack_crowded",
	ReasonStackStopped: "stack_stopped", ReasonStackRemovalWaits: "stack_removal_waits", ReasonStackJobStopped: "stack_job_stopped",
	ReasonStackRemoved: "stack_removed", ReasonStackUnconfirmed: "stack_unconfirmed",
}

// reasonsByName is the inverse of reasonNames.
var reasonsByName = func() map[string]Reason {
	codes := make(map[string]Reason, len(reasonNames))
	for code, name := range reasonNames {
		if name != "" {
			codes[name] = Reason(code)
		}
	}
	return codes
}()

// Reasons returns all reasons, in the order of their numbers.
func Reasons() []Reason {
	all := make([]Reason, 0, len(reasonNames))
	for code, name := range reasonNames {
		if name != "" {
			all = append(all, Reason(code))
		}
	}
	return all
}

// ReasonOf returns the reason with the number that the log has, or 0 if this version does
// not know the number.
func ReasonOf(number uint32) Reason {
	if number >= uint32(len(reasonNames)) || reasonNames[number] == "" {
		return 0
	}
	return Reason(number)
}

// String returns the name of the reason, or "" if it has none.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return ""
}

// MarshalText returns the name of the reason.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText sets the reason with the given name, or 0 if this version does not know
// the name.
func (r *Reason) UnmarshalText(name []byte) error {
	*r = reasonsByName[string(name)]
	return nil
}
