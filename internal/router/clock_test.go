// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"testing"
	"time"
)

func TestTicksAreOfTheClockThatNobodySets(t *testing.T) {
	a := time.Now()
	b := a.Add(firstEjection)
	if d := ticks(b) - ticks(a); d != int64(firstEjection) || ticks(a) <= 0 {
		t.Errorf("a second apart are %d ticks, from %d on", d, ticks(a))
	}
	var e ejection
	for range failuresToConnect {
		e.failed(failuresToConnect, "x", ticks(a), func() bool { return true })
	}
	if !e.isOut(ticks(a.Add(firstEjection-1))) || e.isOut(ticks(b)) {
		t.Error("an ejection does not last for its time")
	}
}
