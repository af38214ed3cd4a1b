// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package reasons encodes the reasons of stored objects. Earlier versions stored sentences
// without reasons: earlier.txt maps the sentences that they wrote to reasons. The sentences
// that this version writes are in api/reason_text.go.
package reasons

import "github.com/reeve-run/reeve/api"

// Sentence returns the description to write next to a reason: "" if it is the reason's
// own sentence.
func Sentence(reason api.Reason, description string) string {
	if description == reason.Text() {
		return ""
	}
	return description
}

// Allocation decodes the reason of an allocation's desired status. The description is that
// of the log or snapshot, where Sentence may have left it out.
func Allocation(number uint32, description string) (api.Reason, string) {
	return decode("allocation", number, description)
}

// Deployment decodes the reason of a deployment's status.
func Deployment(number uint32, description string) (api.Reason, string) {
	return decode("deployment", number, description)
}

// Restart decodes the reason of a restart's status.
func Restart(number uint32, description string) (api.Reason, string) {
	return decode("restart", number, description)
}

// Evaluation decodes the reason of an evaluation's status.
func Evaluation(number uint32, description string) (api.Reason, string) {
	return decode("evaluation", number, description)
}

// Stack decodes the sentence that an earlier version stored as the reason of a stack's status.
func Stack(sentence string) (api.Reason, string) { return decode("stack", 0, sentence) }

func decode(noun string, number uint32, description string) (api.Reason, string) {
	if number == 0 && description == "" { // most objects
		return 0, ""
	}
	reason := api.ReasonOf(number)
	switch {
	case description == "":
		return reason, reason.Text()
	case number == 0:
		return earlier[noun].find(description), description
	}
	return reason, description
}
