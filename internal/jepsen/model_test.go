// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/reeve-run/reeve/api"
)

// at returns an operation that a client called and whose answer it received at given times.
func at(call, returned time.Duration, kind, value string, expected, index uint64, result string) operation {
	return operation{Kind: kind, Value: value, Expected: expected, Index: index, Result: result, Call: call, Return: returned}
}

func TestHistoriesThatARegisterCanAndCannotHave(t *testing.T) {
	write := at(1, 2, opWrite, "a", 0, 5, resultOK)
	later := at(3, 4, opWrite, "b", 0, 6, resultOK)
	lost := at(3, 4, opWrite, "b", 0, 0, resultUnknown)
	for name, c := range map[string]struct {
		legal      bool
		operations []operation
	}{
		"read of the last write":                        {true, []operation{write, later, at(5, 6, opRead, "b", 0, 6, resultOK)}},
		"stale read":                                    {false, []operation{write, later, at(5, 6, opRead, "a", 0, 5, resultOK)}},
		"concurrent read of the value before":           {true, []operation{write, later, at(3, 6, opRead, "a", 0, 5, resultOK)}},
		"acknowledged write that is lost":               {false, []operation{write, at(5, 6, opRead, "", 0, 0, resultOK)}},
		"read of a value that nobody wrote":             {false, []operation{write, at(5, 6, opRead, "z", 0, 5, resultOK)}},
		"read of the value with another index":          {false, []operation{write, at(5, 6, opRead, "a", 0, 9, resultOK)}},
		"unknown write that took effect":                {true, []operation{write, lost, at(5, 6, opRead, "b", 0, 8, resultOK)}},
		"unknown write that took effect late":           {true, []operation{write, lost, at(5, 6, opRead, "a", 0, 5, resultOK), at(7, 8, opRead, "b", 0, 8, resultOK)}},
		"unknown write that had no effect":              {true, []operation{write, lost, at(5, 6, opRead, "a", 0, 5, resultOK)}},
		"unknown write that was undone":                 {false, []operation{write, lost, at(5, 6, opRead, "b", 0, 8, resultOK), at(7, 8, opRead, "a", 0, 5, resultOK)}},
		"unknown read":                                  {true, []operation{write, at(5, 6, opRead, "", 0, 0, resultUnknown)}},
		"check-and-set":                                 {true, []operation{write, at(3, 4, opCAS, "b", 5, 6, resultOK), at(5, 6, opRead, "b", 0, 6, resultOK)}},
		"check-and-set with an old index":               {false, []operation{write, later, at(5, 6, opCAS, "c", 5, 7, resultOK)}},
		"conflict with an old index":                    {true, []operation{write, later, at(5, 6, opCAS, "c", 5, 0, resultConflict)}},
		"conflict with the current index":               {false, []operation{write, at(5, 6, opCAS, "c", 5, 0, resultConflict)}},
		"two check-and-sets with one index":             {false, []operation{write, at(3, 6, opCAS, "b", 5, 6, resultOK), at(3, 6, opCAS, "c", 5, 7, resultOK)}},
		"unknown check-and-set that cannot have effect": {false, []operation{write, later, at(5, 6, opCAS, "c", 5, 0, resultUnknown), at(7, 8, opRead, "c", 0, 9, resultOK)}},
		"restore of the value in the snapshot": {true, []operation{
			write, at(3, 4, opSave, "", 0, 0, resultOK), at(5, 6, opWrite, "b", 0, 6, resultOK),
			at(7, 8, opRestore, "", 0, 0, resultOK), at(9, 10, opRead, "a", 0, 5, resultOK), at(11, 12, opWrite, "c", 0, 9, resultOK),
		}},
		"restore that erases nothing": {false, []operation{
			write, at(3, 4, opSave, "", 0, 0, resultOK), at(5, 6, opWrite, "b", 0, 6, resultOK),
			at(7, 8, opRestore, "", 0, 0, resultOK), at(9, 10, opRead, "b", 0, 6, resultOK),
		}},
		"snapshot without an acknowledged write": {false, []operation{
			write, later, at(5, 6, opSave, "", 0, 0, resultOK), at(7, 8, opRestore, "", 0, 0, resultOK), at(9, 10, opRead, "a", 0, 5, resultOK),
		}},
		"unknown check-and-set that took effect": {true, []operation{write, at(3, 4, opCAS, "c", 5, 0, resultUnknown), at(7, 8, opRead, "c", 0, 9, resultOK)}},
	} {
		want := porcupine.Illegal
		if c.legal {
			want = porcupine.Ok
		}
		if got := linearize(c.operations); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestAMirrorFindsRepeatedAndMissingEvents(t *testing.T) {
	job := func(id string) []*api.Event { return []*api.Event{{Key: id}} }
	m := &mirror{}
	m.apply(&api.EventBatch{Snapshot: api.SnapshotBegin, Index: 3})
	m.apply(&api.EventBatch{Snapshot: api.SnapshotPart, Index: 3, Events: job("a")})
	m.apply(&api.EventBatch{Snapshot: api.SnapshotEnd, Index: 3})
	m.apply(&api.EventBatch{Index: 5, Events: job("b")})
	if v := m.takeViolations(); len(v) > 0 {
		t.Errorf("violations of a complete stream: %v", v)
	}
	if missing := m.missing([]string{"a", "b", "c"}); len(missing) != 1 || missing[0] != "c" {
		t.Errorf("missing %v, want c", missing)
	}
	if extra := m.extra(map[string]bool{"a": true}); len(extra) != 1 || extra[0] != "b" {
		t.Errorf("extra %v, want b", extra)
	}
	if omitted, pending := m.unseen([]uint64{2, 4, 5, 6}); !slices.Equal(omitted, []uint64{4}) || !slices.Equal(pending, []uint64{6}) {
		t.Errorf("omitted %v, want 4: the snapshot ends with 3, and the next message has 5; pending %v, want 6", omitted, pending)
	}
	m.apply(&api.EventBatch{Index: 5, Events: job("b")})
	m.apply(&api.EventBatch{Index: 9, Missed: &api.EventMissed{From: 6, To: 9}})
	if missing := m.missing([]string{"a"}); len(missing) != 1 {
		t.Error("a stream that owes a snapshot counts as complete")
	}
	m.apply(&api.EventBatch{Index: 10, Events: job("c")})
	if v := m.takeViolations(); len(v) != 2 {
		t.Errorf("violations %q, want one for the repeated index and one for the missed snapshot", v)
	}
	m.apply(&api.EventBatch{Snapshot: api.SnapshotBegin, Index: 12})
	m.apply(&api.EventBatch{Snapshot: api.SnapshotEnd, Index: 12})
	if v := m.takeViolations(); len(v) > 0 {
		t.Errorf("violations of a stream that sends the missed snapshot: %v", v)
	}
	if omitted, _ := m.unseen([]uint64{7, 9, 11}); len(omitted) > 0 {
		t.Errorf("omitted %v: missed indexes are in the snapshot that the stream owes", omitted)
	}
}

func TestTwoLiveAllocationsOfOneInstanceAreAViolation(t *testing.T) {
	list := []*api.AllocationListStub{
		{ID: "1", Name: "web.main[0]", DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning},
		{ID: "2", Name: "web.main[0]", DesiredStatus: api.AllocDesiredStop, ClientStatus: api.AllocClientRunning},
		{ID: "3", Name: "web.main[1]", DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending},
	}
	var f findings
	if checkIndexes(&f, list); !f.clean() {
		t.Errorf("violations %v", f.violations)
	}
	list[1].DesiredStatus = api.AllocDesiredRun
	if checkIndexes(&f, list); len(f.violations) != 1 || !strings.Contains(f.violations[0], "web.main[0]") {
		t.Errorf("violations %v, want one about web.main[0]", f.violations)
	}
}

func TestUnknownFaultsAreRejected(t *testing.T) {
	if _, err := findFaults([]string{"none", "flood"}, everything); api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "kill-leader") {
		t.Errorf("error %v, want one that lists the faults", err)
	}
	if found, err := findFaults(nil, everything); err != nil || len(found) != len(FaultNames()) {
		t.Errorf("%d faults, %v", len(found), err)
	}
}

func TestALedgerGrowsByLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	for range 2 {
		s := &Summary{
			Seed: 7, Evidence: []string{"/evidence"}, Violations: []string{"lost; history: /evidence; replay: none"}, UndecidedRounds: []string{"slow; history: /evidence; replay: none"},
		}
		if err := s.Append(path); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), `"Seed":7`) != 2 || strings.Count(string(text), `["lost"]`) != 2 || strings.Count(string(text), `["slow"]`) != 2 || strings.Contains(string(text), "/evidence") || strings.Count(string(text), "\n") != 2 {
		t.Errorf("ledger %q: %v", text, err)
	}
}

func everything(need) bool { return true }
