// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// Standing returns why a stack has its status now, as a sentence. The traffic of a ready stack moves
// after it became ready: the last of the shifts that the stack is an end of says more than its
// stored reason, and its present share of the traffic decides whether either is still true.
func Standing(s *api.Stack, last *api.Shift, share float64) string {
	switch {
	case s.Status != api.StackReady:
		return s.StatusText()
	case last != nil && last.IsActive():
		return shifting(s, last)
	}
	text, hasTraffic := s.StatusText(), s.StatusReason != api.ReasonStackLower && s.StatusReason != api.ReasonStackNoTraffic
	if last != nil && !s.StatusSince.After(last.EndedAt) {
		text, hasTraffic = shifted(s, last)
	}
	if share == 1 && !hasTraffic {
		return fmt.Sprintf("receives all traffic of %d.x: the stack that had it is no longer ready", s.Version.Major)
	}
	return text
}

// shifting describes a stack during a shift.
func shifting(s *api.Stack, shift *api.Shift) string {
	switch {
	case shift.To != s.Name:
		return "traffic shifts from it to " + shift.To
	case shift.Status == api.ShiftReversing:
		return shift.Reason
	}
	return api.ShiftsText(shift.From)
}

// shifted describes a stack after the end of a shift, and reports whether the shift left it the traffic.
func shifted(s *api.Stack, shift *api.Shift) (text string, hasTraffic bool) {
	switch isTo, complete := shift.To == s.Name, shift.Status == api.ShiftComplete; {
	case complete && isTo:
		return "received the traffic of " + shift.From, true
	case complete:
		return "its traffic was shifted to " + shift.To, false
	case isTo:
		return shift.Reason, false
	}
	return fmt.Sprintf("kept its traffic: the shift to %s was %s", shift.To, shift.Status), true
}
