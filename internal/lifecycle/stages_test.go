// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

func stageNames(s *api.Shift) (names []string) {
	for _, stage := range lifecycle.Stages(s) {
		names = append(names, stage.Name)
	}
	return names
}

func TestStagesOfAShift(t *testing.T) {
	for _, test := range []struct {
		what string
		spec api.ShiftSpec
		want []string
	}{
		{"no spec", api.ShiftSpec{}, []string{"10%", "20%", "30%", "40%", "50%", "60%", "70%", "80%", "90%", "100%"}},
		{"atomic", api.ShiftSpec{Policy: api.ShiftAtomic}, []string{"100%"}},
		{"no steps", api.ShiftSpec{Policy: api.ShiftSteps}, []string{"100%"}},
		{"steps", api.ShiftSpec{Policy: api.ShiftSteps, Steps: []string{"2.5%", "5m", "1h", "90s", "25%", "wait"}}, []string{"2.5%", "5m at 2.5%", "1h at 2.5%", "1m30s at 2.5%", "25%", "wait at 25%", "100%"}},
		{"repeated steps", api.ShiftSpec{Policy: api.ShiftSteps, Steps: []string{"wait", "wait", "100%", "100%"}}, []string{"wait at 0%", "wait at 0% #2", "100%", "100% #2"}},
	} {
		if diff := cmp.Diff(test.want, stageNames(newShift(t, &test.spec))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
}

func TestStageEndsWhenTheShiftReachesIt(t *testing.T) {
	s, now := advance(newShift(t, nil), start, 3*time.Minute, always)
	stages := lifecycle.Stages(s)
	if at := lifecycle.CurrentStage(s, stages); at != 1 {
		t.Errorf("stage %d after 3 of 20 minutes, want 1", at)
	}
	end := lifecycle.StageEnd(s, stages)
	if want := start.Add(4 * time.Minute); !end.Equal(want) {
		t.Errorf("the stage ends at %s, want %s", end, want)
	}
	s, _ = advance(s, now, end.Sub(now), always)
	if at := lifecycle.CurrentStage(s, stages); at != 2 {
		t.Errorf("stage %d at its end, want 2", at)
	}
}

// TestVerbsOnStagesNeverLowerTheShare applies random verbs to random shifts.
func TestVerbsOnStagesNeverLowerTheShare(t *testing.T) {
	from := newShift(t, nil)
	rapid.Check(t, func(r *rapid.T) {
		spec := api.ShiftSpec{
			Policy: rapid.SampledFrom([]string{"", api.ShiftLinear, api.ShiftAtomic, api.ShiftSteps}).Draw(r, "policy"),
			Steps:  rapid.SampledFrom([][]string{nil, {"wait"}, {"5%", "1m", "25%", "wait", "50%"}, {"1m", "1m", "100%", "wait"}}).Draw(r, "steps"),
			Over:   rapid.SampledFrom([]time.Duration{0, time.Second, 5 * time.Minute}).Draw(r, "over"),
		}
		s := from.Copy()
		s.Spec = spec
		s.Steps, _ = api.ParseShiftSteps(spec.Steps)
		now := start
		for range rapid.IntRange(1, 60).Draw(r, "events") {
			before, stages := s, lifecycle.Stages(s)
			at := lifecycle.CurrentStage(s, stages)
			next, err := s, error(nil)
			switch rapid.SampledFrom([]string{"advance", "pause", "resume", "complete", "restart"}).Draw(r, "event") {
			case "advance":
				now = now.Add(5 * time.Second)
				next, _ = lifecycle.Advance(s, routable, now)
			case "pause":
				if s.Status == api.ShiftRunning {
					next, err = lifecycle.Pause(s, "paused", now)
				}
			case "resume":
				next, err = lifecycle.Resume(s, now)
			case "complete":
				if at < len(stages) {
					to := rapid.IntRange(at, len(stages)-1).Draw(r, "stage")
					if next, err = lifecycle.CompleteStage(s, to, "ann", now); err == nil {
						if got := lifecycle.CurrentStage(next, stages); got <= to {
							r.Fatalf("stage %d is current after stage %d was completed, of %+v", got, to, before)
						}
					}
				}
			case "restart":
				if at < len(stages) {
					next, err = lifecycle.RestartStage(s, at, now)
				}
			}
			if err != nil {
				continue
			}
			if s = next; s.Share < before.Share {
				r.Fatalf("the share fell from %v to %v", before.Share, s.Share)
			}
			if got := lifecycle.CurrentStage(s, stages); got < at {
				r.Fatalf("stage %d follows stage %d: %+v", got, at, s)
			}
		}
	})
}
