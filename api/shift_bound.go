// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Metrics of a shift's checks.
const (
	MetricErrors = "http_5xx" // part of the responses with status 500 to 599, from 0 to 1
	MetricP99    = "http_p99" // 99th percentile of the response time, in seconds
)

// A ShiftBound is an upper bound relative to the old stack: its figure times Factor plus Offset.
type ShiftBound struct{ Factor, Offset float64 }

// Limit returns the bound for a figure of the old stack.
func (b ShiftBound) Limit(base float64) float64 { return base*b.Factor + b.Offset }

// ParseShiftBound parses a bound such as "from", "from*1.5" or "from+0.5%".
func ParseShiftBound(text, metric string) (ShiftBound, error) {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(text, " ", ""), "from")
	if ok && rest == "" {
		return ShiftBound{Factor: 1}, nil
	}
	if factor, times := strings.CutPrefix(rest, "*"); ok && times {
		f, err := strconv.ParseFloat(factor, 64)
		if err == nil && f >= 1 && f <= 1000 {
			return ShiftBound{Factor: f}, nil
		}
	}
	if offset, plus := strings.CutPrefix(rest, "+"); ok && plus {
		if v, err := ParseShiftLevel(offset, metric); err == nil {
			return ShiftBound{Factor: 1, Offset: v}, nil
		}
	}
	return ShiftBound{}, fmt.Errorf("%q: must be from*FACTOR with a factor from 1 to 1000, or from+LEVEL, such as \"from*1.5\" or \"from+0.5%%\"", text)
}

// ParseShiftLevel parses an upper bound: a percentage for http_5xx, a duration for http_p99.
func ParseShiftLevel(text, metric string) (float64, error) {
	if metric == MetricP99 {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return 0, fmt.Errorf("%q: must be a duration, such as \"200ms\"", text)
		}
		return d.Seconds(), nil
	}
	percent, ok := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
	if !ok || err != nil || !(v >= 0 && v <= 100) {
		return 0, fmt.Errorf("%q: must be a percentage from 0%% to 100%%", text)
	}
	return v / 100, nil
}
