// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func TestAShiftShowsTheFiguresOfItsStacks(t *testing.T) {
	s := &api.Shift{From: "a", To: "b", Status: api.ShiftRunning, Share: 0.1, Traffic: &api.ShiftTraffic{
		From: api.StackFigures{Requests: 9000, Rate: 4000, Errors: 0.001, P99: 79 * time.Millisecond},
		To:   api.StackFigures{Requests: 1000, Rate: 412.34, Errors: 0.031, P99: 81 * time.Millisecond},
	}}
	if got, want := view.ShiftLine(s), "shift a to b  running  10 %  412.3 req/s  5xx 3.1 % (from 0.1 %)  p99 81 ms (79)"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	s.Traffic.From = api.StackFigures{}
	s.Traffic.To = api.StackFigures{Requests: 1, Rate: 0.1, P99: 4567 * time.Microsecond}
	if got, want := view.ShiftLine(s), "shift a to b  running  10 %  0.1 req/s  5xx 0.0 % (from 0.0 %)  p99 4.6 ms"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	s.Traffic.To = api.StackFigures{}
	if got, want := view.ShiftLine(s), "shift a to b  running  10 %"; got != want {
		t.Errorf("line without requests %q, want %q", got, want)
	}
}
