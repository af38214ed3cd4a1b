// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxShiftSteps bounds the steps of a shift.
const maxShiftSteps = 100

// ParseShiftSteps parses the steps of a shift. The error names the first step that is invalid.
func ParseShiftSteps(texts []string) ([]ShiftStep, error) {
	if len(texts) > maxShiftSteps {
		return nil, fmt.Errorf("steps: %d are more than %d", len(texts), maxShiftSteps)
	}
	steps := make([]ShiftStep, len(texts))
	last := 0.0
	for i, text := range texts {
		step, err := parseShiftStep(text)
		if err != nil {
			return nil, err
		}
		if step.Share != nil {
			if *step.Share < last {
				return nil, fmt.Errorf("step %q: is less than an earlier step; shares must grow", Printable(text, 64))
			}
			last = *step.Share
		}
		steps[i] = step
	}
	return steps, nil
}

func parseShiftStep(text string) (ShiftStep, error) {
	if text == "wait" {
		return ShiftStep{Wait: true}, nil
	}
	if share, ok := strings.CutSuffix(text, "%"); ok {
		if v, err := strconv.ParseFloat(share, 64); err == nil && v >= 0 && v <= 100 {
			v /= 100
			return ShiftStep{Share: &v}, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 && d <= maxShiftOver {
		return ShiftStep{Pause: d}, nil
	}
	return ShiftStep{}, fmt.Errorf("step %q: must be a share such as \"25%%\", a pause up to %d days such as \"5m\", or \"wait\"",
		Printable(text, 64), int(maxShiftOver.Hours()/24))
}

// maxShiftOver bounds the time of a shift.
const maxShiftOver = 30 * 24 * time.Hour
