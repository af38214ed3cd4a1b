// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// linearStages is the number of stages of a linear shift.
const linearStages = 10

// A Stage is a part of a shift that operators see and complete as a step of its plan.
type Stage struct {
	Name  string  // unique in the shift, such as "25%", "5m at 25%" or "wait at 25%"
	Share float64 // of the stack To at the end of the stage
	Pause time.Duration
	Wait  bool // needs an operator
}

// Stages returns the stages of a shift in their order. The last one ends with all traffic on the
// stack To.
func Stages(s *api.Shift) (stages []Stage) {
	switch s.Spec.Policy {
	case api.ShiftSteps:
		share := 0.0
		for _, step := range s.Steps {
			if step.Share != nil {
				share = *step.Share
			}
			stages = append(stages, Stage{Name: stageName(step, share), Share: share, Pause: step.Pause, Wait: step.Wait})
		}
		if share < 1 || len(stages) == 0 {
			stages = append(stages, Stage{Name: shareName(1), Share: 1})
		}
	case api.ShiftAtomic:
		return []Stage{{Name: shareName(1), Share: 1}}
	default:
		for i := 1; i <= linearStages; i++ {
			share := float64(i) / linearStages
			stages = append(stages, Stage{Name: shareName(share), Share: share})
		}
	}
	return distinct(stages)
}

func stageName(step api.ShiftStep, share float64) string {
	switch {
	case step.Wait:
		return "wait at " + shareName(share)
	case step.Share == nil:
		return pauseName(step.Pause) + " at " + shareName(share)
	}
	return shareName(share)
}

// pauseName writes a duration without parts of zero at its end, such as "5m".
func pauseName(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func shareName(share float64) string {
	return strconv.FormatFloat(roundShare(share)*100, 'f', -1, 64) + "%"
}

// distinct numbers the stages whose names occur before.
func distinct(stages []Stage) []Stage {
	seen := make(map[string]int, len(stages))
	for i := range stages {
		name := stages[i].Name
		if seen[name]++; seen[name] > 1 {
			stages[i].Name = fmt.Sprintf("%s #%d", name, seen[name])
		}
	}
	return stages
}

// CurrentStage returns the number of stages that a shift has completed, which is the index of the
// stage in progress. A shift that turned back has the stage that it reached.
func CurrentStage(s *api.Shift, stages []Stage) int {
	switch {
	case s.Status == api.ShiftComplete:
		return len(stages)
	case s.Spec.Policy != api.ShiftSteps:
		reached := max(s.Share, s.ReverseFrom)
		i := 0
		for i < len(stages)-1 && stages[i].Share <= reached {
			i++
		}
		return i
	case s.Status == api.ShiftWaiting && s.Step > 0 && s.Step <= len(s.Steps) && s.Steps[s.Step-1].Wait && s.StepFor == s.Elapsed:
		return s.Step - 1
	}
	return min(s.Step, len(stages)-1)
}

// StageEnd returns the time at which the stage in progress ends if nothing delays the shift; zero if
// that is unknown.
func StageEnd(s *api.Shift, stages []Stage) time.Time {
	if s.Status != api.ShiftRunning {
		return time.Time{}
	}
	over := s.Spec.Over
	if over <= 0 {
		over = api.DefaultShiftOver
	}
	at := CurrentStage(s, stages)
	if at == len(stages) {
		return time.Time{}
	}
	end := time.Duration(stages[at].Share * float64(over))
	if s.Spec.Policy == api.ShiftSteps {
		end = s.StepFor + stages[at].Pause
	}
	return s.AdvancedAt.Add(end - s.Elapsed)
}

// CompleteStage completes the stages of a shift up to one, which has not been completed: a share is
// set, a pause ends, and a wait no longer waits. The shift continues from there, or stays paused.
func CompleteStage(s *api.Shift, to int, by string, now time.Time) (*api.Shift, error) {
	stages := Stages(s)
	switch {
	case !s.IsActive() || s.Status == api.ShiftReversing:
		return nil, refuse("complete a step of", s)
	case to == len(stages)-1:
		return Finish(s, by, now)
	}
	waits := stages[CurrentStage(s, stages)].Wait
	return change(s, now, func(n *api.Shift) {
		n.Share = max(n.Share, roundShare(stages[to].Share))
		if n.Spec.Policy != api.ShiftSteps {
			over := n.Spec.Over
			if over <= 0 {
				over = api.DefaultShiftOver
			}
			n.Elapsed = max(n.Elapsed, time.Duration(n.Share*float64(over)))
			return
		}
		n.Step, n.StepFor = to+1, n.Elapsed
		if n.Status == api.ShiftWaiting && waits {
			n.Status, n.Reason, n.CheckedAt = api.ShiftRunning, "", now
		}
	}), nil
}

// RestartStage begins the pause in progress again.
func RestartStage(s *api.Shift, at int, now time.Time) (*api.Shift, error) {
	stages := Stages(s)
	switch {
	case !s.IsActive() || s.Status == api.ShiftReversing:
		return nil, refuse("restart a step of", s)
	case at != CurrentStage(s, stages) || stages[at].Pause == 0:
		return nil, api.Errorf(api.CodeConflict, "cannot restart step %s of the shift of %s: only the pause in progress can start again; to lower the share, reverse the shift", stages[at].Name, s.Unit)
	}
	return change(s, now, func(n *api.Shift) { n.StepFor = n.Elapsed }), nil
}

// MaxInconclusive is the number of consecutive inconclusive intervals after which a shift waits for
// an operator.
const MaxInconclusive = maxInconclusive

// FailuresAllowed returns the number of consecutive failures of a check that end the way of a shift.
func FailuresAllowed(s *api.Shift) int {
	if s.Spec.Failures > 0 {
		return s.Spec.Failures
	}
	return api.DefaultShiftFailures
}
