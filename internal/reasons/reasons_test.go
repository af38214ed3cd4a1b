// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package reasons_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/reasons"
)

// written is an allocation's reason as a log or snapshot has it.
type written struct {
	Number      uint32
	Description string
}

// read is the same allocation's reason in memory.
type read struct {
	Reason      api.Reason
	Description string
}

func TestSentencesOfEarlierVersionsHaveReasons(t *testing.T) {
	for sentence, want := range map[string]api.Reason{
		"":                                       0,
		"placed":                                 0,
		"replaced by a newer version of the job": api.ReasonUpdated,
		"the group's count was lowered":          api.ReasonScaledDown,
		"the job was removed":                    api.ReasonPurged,
		"its node is drained; its instance is started anew":                                    api.ReasonMigrated,
		"its node was out of reach for longer than stop_on_client_after, and has stopped it":   api.ReasonFenced,
		"given up by ann: node burnt":                                                          api.ReasonGivenUp,
		"replaced by ann: disk is full; its instance is started anew, with an empty directory": api.ReasonReplaced,
		"an operator had it replaced; its instance is started anew, with an empty directory":   api.ReasonReplaced,
		`preempted by allocation a2a2a2a2 of job "urgent", which has priority 90`:              api.ReasonPreempted,
		"found on its node; no registered job is known to want it":                             api.ReasonAdopted,
	} {
		reason, description := reasons.Allocation(0, sentence)
		if diff := cmp.Diff(read{want, sentence}, read{reason, description}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", sentence, diff)
		}
	}
}

func TestReasonsAreWrittenWithoutTheirOwnSentence(t *testing.T) {
	for _, reason := range api.Reasons() {
		for _, in := range []read{{reason, reason.Text()}, {reason, reason.Text() + ", said ann"}} {
			out := written{uint32(in.Reason), reasons.Sentence(in.Reason, in.Description)}
			if own := in.Description == reason.Text(); own != (out.Description == "") {
				t.Errorf("%s with %q is written with %q", reason, in.Description, out.Description)
			}
			r, d := reasons.Allocation(out.Number, out.Description)
			if diff := cmp.Diff(in, read{r, d}); diff != "" {
				t.Errorf("%s (-written +read):\n%s", reason, diff)
			}
		}
	}
}

func TestUnknownReasonKeepsItsSentence(t *testing.T) {
	for _, number := range []uint32{255, 1 << 20} {
		reason, description := reasons.Allocation(number, "a reason of a later version")
		if diff := cmp.Diff(read{0, "a reason of a later version"}, read{reason, description}); diff != "" {
			t.Errorf("%d (-want +got):\n%s", number, diff)
		}
	}
}

func TestSentencesOfEveryNounHaveReasons(t *testing.T) {
	for _, c := range []struct {
		find     func(uint32, string) (api.Reason, string)
		sentence string
		want     api.Reason
	}{
		{reasons.Deployment, "Deployment is paused by ann (maintenance)", api.ReasonDeploymentPaused},
		{reasons.Deployment, "Failed due to progress deadline - rolling back to job version 3", api.ReasonDeploymentDeadline},
		{reasons.Deployment, "Failed due to progress deadline", api.ReasonDeploymentDeadline},
		{reasons.Deployment, "the job was stopped", 0},
		{reasons.Restart, "plan restart: interrupt by ann", api.ReasonRestartPaused},
		{reasons.Restart, "cancelled by deployment a2a2a2a2 of version 3", api.ReasonRestartDeployed},
		{reasons.Restart, "cancelled by ann", api.ReasonRestartCancelled},
		{reasons.Restart, "Restarted 3 allocations; 1 allocation did not come back well", api.ReasonRestartComplete},
		{reasons.Evaluation, "the job was stopped", api.ReasonEvalJobStopped},
		{reasons.Evaluation, "worked out together with evaluation a2a2a2a2", api.ReasonEvalJoined},
	} {
		if got, description := c.find(0, c.sentence); got != c.want || description != c.sentence {
			t.Errorf("%q is read as reason %s (%q), want %s and the same sentence", c.sentence, got, description, c.want)
		}
	}
}
