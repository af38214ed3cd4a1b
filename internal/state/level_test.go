// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestTheLevelOnlyRises raises the level, and finds it again in a snapshot.
func TestTheLevelOnlyRises(t *testing.T) {
	s := New()
	if got := s.Snapshot().Level(); got != firstLevel {
		t.Errorf("a new state has level %d", got)
	}
	must(t, s.Apply(1, []Command{&RaiseLevel{Level: 2, Version: "2.0"}}))
	must(t, s.Apply(2, []Command{&RaiseLevel{Level: 1, Version: "1.0"}}))
	var file bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	again, err := Restore(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []*Snapshot{s.Snapshot(), again.Snapshot()} {
		if v.Level() != 2 || v.cluster.levelVersion != "2.0" {
			t.Errorf("the level is %d, of version %q", v.Level(), v.cluster.levelVersion)
		}
	}
}

// TestANewerStateIsRefused has a log entry and a snapshot of a later version.
func TestANewerStateIsRefused(t *testing.T) {
	newer := &RaiseLevel{Level: Level + 1, Version: "9.8"}
	_, logErr := DecodeCommands(EncodeCommands([]Command{newer}))
	s := New()
	must(t, s.Apply(1, []Command{newer}))
	var file bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	own := New()
	must(t, own.Apply(1, []Command{&RegisterJob{Job: minimalJob("kept")}}))
	fileErr := own.Restore(&file)
	for from, err := range map[string]error{"log": logErr, "snapshot": fileErr} {
		var refused *NewerError
		if !errors.As(err, &refused) || refused.Level != Level+1 || !strings.Contains(err.Error(), "Reeve 9.8 began to use") || strings.Contains(err.Error(), "damaged") {
			t.Errorf("the %s: %v", from, err)
		}
	}
	if own.Snapshot().Job("default", "kept") == nil || own.Index() != 1 {
		t.Error("a refused snapshot changed the state")
	}
}

// TestARestoreKeepsTheLevel restores a snapshot of a lower level, and refuses one of a higher.
func TestARestoreKeepsTheLevel(t *testing.T) {
	restore := func(own, theirs int) (*Store, error) {
		from, to := New(), New()
		if theirs > 0 {
			must(t, from.Apply(1, []Command{&RaiseLevel{Level: theirs}}))
		}
		if own > 0 {
			must(t, to.Apply(1, []Command{&RaiseLevel{Level: own}}))
		}
		var parts bytes.Buffer
		z, err := flate.NewWriter(&parts, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := from.Snapshot().WriteTo(z); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(parts.Bytes())
		must(t, to.Apply(2, []Command{&StageRestore{ID: "r", Data: parts.Bytes()}}))
		return to, to.Apply(3, []Command{&RestoreState{ID: "r", Parts: 1, SHA256: sum[:], Timeline: "restored"}})[0]
	}
	to, err := restore(2, 0)
	if err != nil || to.Snapshot().Level() != 2 || to.Snapshot().Timeline() != "restored" {
		t.Errorf("after the restore of an earlier level: level %d, %v", to.Snapshot().Level(), err)
	}
	to, err = restore(0, 2)
	if api.CodeOf(err) != api.CodeConflict || to.Snapshot().Level() != firstLevel || to.Snapshot().Timeline() != "" {
		t.Errorf("after the restore of a later level: level %d, %v", to.Snapshot().Level(), err)
	}
}

// TestLevelsOfCommands lists the commands that earlier versions cannot read. A new command or
// noun belongs to a new level, or to one that no release has written.
func TestLevelsOfCommands(t *testing.T) {
	later := map[string]int{"PutRenewal": 2, "DeleteRenewal": 2, "StageRestore": 2, "RestoreState": 2}
	commands := goldens()
	commands["StageRestore"], commands["RestoreState"] = &StageRestore{ID: "r"}, &RestoreState{ID: "r"}
	for name, c := range commands {
		want := max(later[name], firstLevel)
		if got, does := Needs(c); got != want || (does == "") != (got == firstLevel) {
			t.Errorf("%s needs level %d (%q), want %d", name, got, does, want)
		}
	}
	trust := goldenTrust()
	trust.CrossSigned = "-----BEGIN CERTIFICATE-----"
	if got, _ := Needs(PutTrust(trust, nil)); got != 2 {
		t.Errorf("a trust with two roots needs level %d", got)
	}
	const lastOfFirst = 23 // frame of the last noun of the first level
	for _, n := range nouns {
		switch n.kind() {
		case restoreParts.frame, shelves.frame: // no command puts them; only of tests
			continue
		}
		if n.kind() > lastOfFirst != n.isLeveled() && n.title() != trusts.name && n.title() != namespaces.name {
			t.Errorf("noun %s with frame %d has no level: older servers cannot read it", n.title(), n.kind())
		}
	}
}
