// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// TestReasonsKeepTheirNumbersAndNames compares the reasons with those of the log and of
// API clients. Add new ones; never change or remove one.
func TestReasonsKeepTheirNumbersAndNames(t *testing.T) {
	got := map[api.Reason]string{}
	for _, r := range api.Reasons() {
		got[r] = r.String()
	}
	want := map[api.Reason]string{
		1: "updated", 2: "scaled_down", 3: "duplicate", 4: "group_removed", 5: "job_stopped", 6: "purged", 7: "orphaned",
		8: "adopted", 9: "moved", 10: "migrated", 11: "failed", 12: "ended", 13: "replaced", 14: "node_down",
		15: "node_removed", 16: "disconnected", 17: "fenced", 18: "replacement_kept", 19: "original_kept",
		20: "superseded", 21: "finished_by_other", 22: "ended_beside_other", 23: "evicted", 24: "infeasible",
		25: "unpromoted", 26: "given_up", 27: "preempted",
		40: "deployment_running", 41: "deployment_needs_promotion", 42: "deployment_auto_promotes", 43: "deployment_paused",
		44: "deployment_successful", 45: "deployment_superseded", 46: "deployment_job_stopped", 47: "deployment_deadline",
		48: "deployment_exhausted", 49: "deployment_unhealthy", 50: "deployment_failed_by_operator",
		60: "restart_running", 61: "restart_paused", 62: "restart_resumed", 63: "restart_cancelled", 64: "restart_job_stopped",
		65: "restart_deployed", 66: "restart_failed", 67: "restart_tripped", 68: "restart_complete",
		80: "eval_reschedule", 81: "eval_max_disconnect", 82: "eval_restart_batch", 83: "eval_recover_anywhere", 84: "eval_no_room",
		85: "eval_joined", 86: "eval_job_stopped", 87: "eval_job_failed", 88: "eval_rejected", 89: "eval_attempts_failed",
		90: "eval_superseded", 91: "eval_unblocked",
		100: "stack_waits_turn", 101: "stack_from_submission", 102: "stack_deploying", 103: "stack_deployed",
		104: "stack_registered", 105: "stack_waits_health", 106: "stack_waits_shift", 107: "stack_waits_earlier",
		108: "stack_first", 109: "stack_lower", 110: "stack_no_traffic", 111: "stack_shift",
		112: "stack_portless", 113: "stack_rescued", 114: "stack_job_missing", 115: "stack_job_rejected",
		116: "stack_job_failed", 117: "stack_deployment_failed", 118: "stack_overtaken", 119: "stack_late",
		120: "stack_uncalled", 121: "stack_outdated", 122: "stack_version_deprecated", 123: "stack_crowded",
		124: "stack_stopped", 125: "stack_removal_waits", 126: "stack_job_stopped", 127: "stack_removed", 128: "stack_unconfirmed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestEveryReasonHasASentenceAndIsFoundByItsName(t *testing.T) {
	names := map[string]api.Reason{}
	for _, r := range api.Reasons() {
		if other, taken := names[r.String()]; taken {
			t.Errorf("reasons %d and %d are both named %s", other, r, r)
		}
		names[r.String()] = r
		if r.Text() == "" {
			t.Errorf("reason %s has no sentence", r)
		}
		if api.ReasonOf(uint32(r)) != r {
			t.Errorf("number %d is read as reason %s, want %s", r, api.ReasonOf(uint32(r)), r)
		}
	}
}

func TestReasonsAreNamesInJSON(t *testing.T) {
	a := &api.AllocationListStub{DesiredReason: api.ReasonMigrated}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	var decoded api.AllocationListStub
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &decoded); err != nil {
		t.Fatal(err)
	}
	if fields["DesiredReason"] != "migrated" || decoded.DesiredReason != api.ReasonMigrated {
		t.Errorf("reason migrated is %v in JSON, and is read as %s", fields["DesiredReason"], decoded.DesiredReason)
	}
	if err := json.Unmarshal([]byte(`{"DesiredReason": "of a later version"}`), &decoded); err != nil || decoded.DesiredReason != 0 {
		t.Errorf("an unknown reason is read as %s (%v), want none", decoded.DesiredReason, err)
	}
}
