// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// at returns the time that is a number of minutes after the start of these tests.
func at(minutes int) time.Time { return time.Unix(int64(1000+60*minutes), 0).UTC() }

// fullStack has a value in every kind of field.
func fullStack(unit, version, hash, status string) *api.Stack {
	v, err := api.ParseStackVersion(version)
	if err != nil {
		panic(err)
	}
	return &api.Stack{
		ID: "stack-" + hash, Name: api.StackName(unit, v, hash), Namespace: "default", Unit: unit, Version: v, Shape: api.ShapeService,
		Spec: &api.StackSpec{
			Version: version, Depends: []*api.StackDependency{{Unit: "db", Version: "2.1", Optional: true}}, Grace: ptr(time.Hour), MaxStacks: ptr(5),
			Policy: &api.RetentionPolicy{Name: api.RetainLatest, Majors: 2}, Expose: []*api.StackExposure{{Host: unit + ".example.org"}},
			Shift: &api.ShiftSpec{Policy: api.ShiftSteps, Steps: []string{"25%", "5m", "wait"}, Checks: []*api.ShiftCheck{{Name: "errors", Metric: api.MetricErrors, Max: "1%"}}},
		},
		Digest: "digest", Status: status, StatusDescription: "as it should", StatusBy: "ann", StatusSince: at(0), DeployedAt: at(0),
		RunningAt: at(1), Expires: at(30), CalledAt: at(2), Hold: &api.StackHold{By: "bob", Reason: "demo", Since: at(1), Until: at(90)},
		Verdict: &api.Verdict{At: at(2), Kept: true, Policy: api.RetainLatest, Reason: api.KeptUnfinished, Before: at(20), After: at(30)},
	}
}

// fullShift has every field set.
func fullShift(id, from, to string) *api.Shift {
	return &api.Shift{
		ID: id, Namespace: "default", Unit: "shop", Major: 1, From: from, To: to,
		Spec:  api.ShiftSpec{Policy: api.ShiftSteps, Steps: []string{"25%", "5m", "wait"}, MinRequests: 10, Interval: time.Minute, Failures: 3},
		Steps: []api.ShiftStep{{Share: ptr(0.25)}, {Pause: 5 * time.Minute}, {Wait: true}}, Status: api.ShiftReversing, Reason: "reversed by ann",
		ChangedBy: "ann", Share: 0.25, Held: true, Elapsed: time.Minute, Step: 2, StepFor: time.Second, ReverseFrom: 0.5, ReverseOver: time.Minute,
		Failures: map[string]int{"errors": 1}, Inconclusive: 2, CheckedAt: at(3), AdvancedAt: at(4), By: "bob", StartedAt: at(1),
	}
}

// supersededShift returns a copy of a shift that another one supersedes.
func supersededShift(s *api.Shift) *api.Shift {
	c := s.Copy()
	c.Status, c.Reason, c.EndedAt, c.Share = api.ShiftSuperseded, "superseded by ann", at(5), 0
	return c
}

// fullUnit has every field set.
func fullUnit() *api.Unit {
	return &api.Unit{
		Namespace: api.AnyNamespace, Name: "shop", Deprecated: []*api.Deprecation{{Version: api.FeatureVersion{Major: 1, Minor: 2}, By: "ann", Reason: "old", Since: at(3)}},
		Tags: map[string]api.StackVersion{"demo": {Major: 1, Minor: 2, Patch: 3}}, Policy: &api.RetentionPolicy{Name: api.RetainAlways},
		Targets: map[uint32]string{1: "shop--1-0-0--aaaaaaaa", 2: "shop--2-0-0--bbbbbbbb"},
	}
}

// stackCommands are the commands of stacks that write many objects, by the name of their golden file.
func stackCommands() map[string]Command {
	s := fullStack("shop", "1.0.0", "aaaaaaaa", api.StackPending)
	return map[string]Command{
		"DeployStacks-reason": &DeployStacks{Index: 3, Stacks: []*api.Stack{s}, Jobs: []*api.Job{testJob(s.Name)}},
		"DeployStacks-units-reason": &DeployStacks{
			Index: 3, Units: []api.NamespacedID{{Namespace: "default", ID: "db"}}, Stacks: []*api.Stack{s}, Jobs: []*api.Job{testJob(s.Name)},
		},
		"BeginShift": &BeginShift{
			Ended: supersededShift(fullShift("shift-1", "a", "b")), Shift: fullShift("shift-2", "a", "c"), Stack: fullStack("shop", "1.1.0", "bbbbbbbb", api.StackReady),
		},
		"BeginShift-alone":  &BeginShift{Shift: fullShift("shift-1", "a", "b")},
		"SweepStacks-since": &SweepStacks{Since: 4, Sweep: api.LifecycleSweep{Time: at(5)}},
		"SweepStacks": &SweepStacks{
			Index: 4, Sweep: api.LifecycleSweep{Time: at(5), Stale: []string{"dev"}},
			Extended: []StackExtension{{Expires: at(60), Called: true, Stacks: []string{jobName("default", s.Name)}}},
			Decided: []StackDecision{{
				Namespace: "default", Name: "shop--1-1-0--bbbbbbbb", ModifyIndex: 4, Verdict: *s.Verdict, Text: "nothing uses it",
				Expires: at(90), Called: true, Status: api.StackGarbage, Remove: true,
			}},
		},
	}
}

// stackObjectCommands are the commands of stacks that write one object, by the name of their golden file.
func stackObjectCommands() map[string]Command {
	s, shift, u := fullStack("shop", "1.0.0", "aaaaaaaa", api.StackReady), fullShift("shift-1", "a", "b"), fullUnit()
	s.ModifyIndex, shift.ModifyIndex, u.ModifyIndex = 3, 4, 5
	coded := s.Copy()
	coded.StatusReason, coded.StatusDescription = api.ReasonStackShift, api.ShiftsText("shop--0-9-0--bbbbbbbb")
	return map[string]Command{
		"PutStack-reason": PutStack(s), "PutStack-code": PutStack(coded), "DeleteStack": ForgetStack(s), "PutUnit": PutUnit(u), "PutShift": PutShift(shift), "DeleteShift": ForgetShift(shift),
	}
}

// sentences holds the entries of versions that wrote a sentence as the reason of a stack: the golden file that has
// the same entry with the sentence in its own field.
var sentences = map[string]string{
	"DeployStacks": "DeployStacks-reason", "DeployStacks-units": "DeployStacks-units-reason", "PutStack": "PutStack-reason", "Decide-stack": "Decide-stack-reason",
}

func TestStacksWithASentenceAsReasonAreRead(t *testing.T) {
	file := func(version, name string) []byte {
		return unhex(t, filepath.Join("testdata", "commands", version, name+".hex"))
	}
	for before, now := range sentences {
		decoded, err := DecodeCommands(file("v1", before))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(file("v2", now)), string(EncodeCommands(decoded))); diff != "" {
			t.Errorf("%s is not read as %s (-want +got):\n%s", before, now, diff)
		}
	}
}

func TestSentencesOfStacksBecomeReasons(t *testing.T) {
	for sentence, want := range map[string]api.Reason{
		"first of 2.x: it receives all traffic":                    api.ReasonStackFirst,
		"waits for the end of shift 1234abcd":                      api.ReasonStackWaitsShift,
		"waits for shop--1-0-0--aaaaaaaa, which is promoted first": api.ReasonStackWaitsEarlier,
		"the stand is over":                                        0,
	} {
		text, err := json.Marshal(map[string]any{"Name": "s", "StatusReason": sentence})
		if err != nil {
			t.Fatal(err)
		}
		s, err := decodeStack(text)
		if err != nil || s.StatusReason != want || s.StatusText() != sentence {
			t.Errorf("%q is read as reason %q with the text %q (%v), want %q and the same text", sentence, s.StatusReason, s.StatusText(), err, want)
		}
	}
	for _, text := range []string{"null", "[]", `{"StatusReason": 3}`, `{"StatusReason": {}}`} {
		if s, err := decodeStack([]byte(text)); err == nil {
			t.Errorf("%s is read as stack %+v, want an error", text, s)
		}
	}
}

// stackStore holds what the format learned to hold with stacks: all of their nouns.
func stackStore(t testing.TB) *Store {
	s := New()
	first, second := fullStack("shop", "1.0.0", "aaaaaaaa", api.StackPending), fullStack("shop", "1.1.0", "bbbbbbbb", api.StackReady)
	must(t, s.Apply(5, []Command{&DeployStacks{Stacks: []*api.Stack{first, second}, Jobs: []*api.Job{testJob(first.Name), testJob(second.Name)}}}))
	ready := s.Snapshot().Stack("default", first.Name).Copy()
	ready.Status, ready.StatusSince = api.StackReady, at(2)
	must(t, s.Apply(6, []Command{PutStack(ready), PutUnit(fullUnit()), PutShift(fullShift("shift-1", first.Name, second.Name))}))
	snap := s.Snapshot()
	must(t, s.Apply(7, []Command{&SweepStacks{
		Index: snap.LifecycleIndex(), Sweep: api.LifecycleSweep{Time: at(5), Stale: []string{"dev"}},
		Extended: []StackExtension{{Expires: at(60), Called: true, Stacks: []string{jobName("default", second.Name)}}},
		Decided: []StackDecision{{
			Namespace: "default", Name: first.Name, ModifyIndex: 6, Verdict: api.Verdict{At: at(5), Reason: api.DeclinedLate, Before: at(30), After: at(90)},
			Text: "nothing uses it", Expires: at(90), Status: api.StackGarbage,
		}},
	}}))
	return s
}

// stackStoreBeforeReasons is stackStore as a version without reasons wrote it: its sentence is none that a version wrote.
func stackStoreBeforeReasons(t testing.TB) *Store {
	s := stackStore(t)
	s.Snapshot().Stack("default", "shop--1-0-0--aaaaaaaa").StatusReason = 0
	return s
}
