// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// Standing returns why a stack has its status now, as a sentence. The traffic of a ready stack moves
// after it became ready: the last of the shifts that the stack is an end of says more than its
// stored reason.
func Standing(s *api.Stack, last *api.Shift) string {
	switch {
	case last == nil || s.Status != api.StackReady || !last.IsActive() && s.StatusSince.After(last.EndedAt):
		return s.StatusReason
	case last.Status == api.ShiftReversing && last.To == s.Name:
		return last.Reason
	case last.IsActive() && last.To == s.Name:
		return "traffic shifts to it from " + last.From
	case last.IsActive():
		return "traffic shifts from it to " + last.To
	case last.Status == api.ShiftComplete && last.To == s.Name:
		return "received the traffic of " + last.From
	case last.Status == api.ShiftComplete:
		return "its traffic was shifted to " + last.To
	case last.To == s.Name:
		return last.Reason
	}
	return fmt.Sprintf("kept its traffic: the shift to %s was %s", last.To, last.Status)
}
