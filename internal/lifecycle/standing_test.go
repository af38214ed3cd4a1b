// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

func TestStandingFollowsTheTraffic(t *testing.T) {
	began := time.Unix(1000, 0)
	shift := func(status, from, to string) *api.Shift {
		return &api.Shift{Status: status, From: from, To: to, Reason: "reversed: 5xx 3 % against 0 %", EndedAt: began.Add(time.Hour)}
	}
	const alone = "receives all traffic of 2.x: the stack that had it is no longer ready"
	for _, test := range []struct {
		what   string
		reason api.Reason
		since  time.Duration
		last   *api.Shift
		share  float64
		want   string
	}{
		{"never in a shift", api.ReasonStackFirst, 0, nil, 1, "first of 2.x: it receives all traffic"},
		{"below the target", api.ReasonStackLower, 0, nil, 0, "a higher version, or one that is not deprecated, receives the traffic; shift to it with: reeve stack shift -to new shop"},
		{"the target above it is gone", api.ReasonStackLower, 0, nil, 1, alone},
		{"without traffic by its policy, and the only one left", api.ReasonStackNoTraffic, 0, nil, 1, alone},
		{"the newer stack of a shift", api.ReasonStackShift, 0, shift(api.ShiftRunning, "old", "new"), 0.5, "traffic shifts to it from old"},
		{"the older stack of a shift", api.ReasonStackFirst, 0, shift(api.ShiftPaused, "new", "newer"), 0.5, "traffic shifts from it to newer"},
		{"during a reversal", api.ReasonStackShift, 0, shift(api.ShiftReversing, "old", "new"), 0.5, "reversed: 5xx 3 % against 0 %"},
		{"after a reversal", api.ReasonStackShift, 0, shift(api.ShiftReversed, "old", "new"), 0, "reversed: 5xx 3 % against 0 %"},
		{"after a reversal, and the older stack is gone", api.ReasonStackShift, 0, shift(api.ShiftReversed, "old", "new"), 1, alone},
		{"after its shift", api.ReasonStackShift, 0, shift(api.ShiftComplete, "old", "new"), 1, "received the traffic of old"},
		{"after a shift from it", api.ReasonStackFirst, 0, shift(api.ShiftComplete, "new", "newer"), 0, "its traffic was shifted to newer"},
		{"after a shift from it, and the newer stack is gone", api.ReasonStackFirst, 0, shift(api.ShiftComplete, "new", "newer"), 1, alone},
		{"after a reversed shift from it", api.ReasonStackFirst, 0, shift(api.ShiftReversed, "new", "newer"), 1, "kept its traffic: the shift to newer was reversed"},
		{"rescued after a shift", api.ReasonStackRescued, 2 * time.Hour, shift(api.ShiftReversed, "old", "new"), 0, "rescued from garbage"},
	} {
		s := &api.Stack{
			Name: "new", Unit: "shop", Version: api.StackVersion{Major: 2}, Status: api.StackReady, StatusReason: test.reason, StatusSince: began.Add(test.since),
		}
		if got := lifecycle.Standing(s, test.last, test.share); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}
