// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestAShiftHoldsWhileTheNewStackIsNotReady runs case 19: the readiness checks of all instances of the newer stack
// fail during the shift. The older stack answers all requests until they pass again.
func TestAShiftHoldsWhileTheNewStackIsNotReady(t *testing.T) {
	m := newMachine(t)
	older := m.deployStack(stackJob(m.Reeve, "1.0.0", time.Second))
	m.answered("1.0.0")
	h := m.hammer(4)
	since := m.position()

	unready := filepath.Join(t.TempDir(), "unready")
	next := stackJob(m.Reeve, "1.1.0", 40*time.Second)
	next.Groups[0].Tasks[0].Env["UNREADY_FILE"] = unready
	newer := m.deployStack(next)
	m.untilShift("the newer stack has a quarter of the traffic", func(s *api.Shift) bool { return s.Share >= 0.25 })
	m.answered("1.0.0", "1.1.0")

	if err := os.WriteFile(unready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	held := m.untilShift("the shift holds", func(s *api.Shift) bool { return s.Held })
	if want := fmt.Sprintf("no instance of %s takes requests: %s answers for it, and the share stands still", newer, older); held.Status != api.ShiftRunning || held.Reason != want {
		t.Errorf("the shift is %s: %q, want running: %q", held.Status, held.Reason, want)
	}
	m.shiftEvent(since, "ShiftHeld", held.ID)
	m.answered("1.0.0")
	for end := wait.Limit(t, 12*time.Second); !isClosed(end); wait.Pass(t.Context(), 500*time.Millisecond) { // more than two advances
		if s := m.untilShift("the shift is read", func(*api.Shift) bool { return true }); s.Share != held.Share || !s.Held {
			t.Fatalf("the share went from %v to %v without a ready instance; held: %v", held.Share, s.Share, s.Held)
		}
		if got := m.colors(5); len(got) != 1 || got[0] != "1.0.0" {
			t.Fatalf("%v answer while no instance of 1.1.0 is ready", got)
		}
	}

	if err := os.Remove(unready); err != nil {
		t.Fatal(err)
	}
	m.untilShift("the shift continues", func(s *api.Shift) bool { return !s.Held && s.Reason == "" && s.Share > held.Share })
	m.answered("1.0.0", "1.1.0")
	m.shifted("1.1.0", held.Share)
	m.answered("1.1.0")
	h.stop()
	if lost := h.lost.Load(); lost > 0 {
		t.Errorf("%d of %d requests were lost, the first: %s", lost, h.sent.Load(), h.first)
	}
}

// shiftEvent reads the events since a position until it finds one of a shift.
func (m *machine) shiftEvent(since api.Position, kind, shift string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	options := client.EventOptions{Topics: map[string][]string{api.TopicShift: nil}, Index: since.Index + 1, Timeline: since.Timeline}
	var seen []string
	for b, err := range m.Client.Events().Stream(ctx, options) {
		if err != nil {
			m.t.Fatalf("no event %s of shift %s: %v; seen: %v", kind, shift, err, seen)
		}
		for _, event := range b.Events {
			if event.Type == kind && event.Key == shift {
				return
			}
			seen = append(seen, event.Type)
		}
	}
	m.t.Fatalf("no event %s of shift %s; seen: %v", kind, shift, seen)
}
