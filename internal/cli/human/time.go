// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package human formats times, durations, sizes and counts for people.
package human

import (
	"fmt"
	"time"
)

// Until returns the time left before then: "in 3m", or "now".
func Until(now, then time.Time) string {
	if left := then.Sub(now); left > 0 {
		return "in " + Duration(left)
	}
	return "now"
}

// Since returns the time that has passed since a change, or "-" if it is unknown.
func Since(now, since time.Time) string {
	if since.IsZero() || since.Unix() <= 0 {
		return "-"
	}
	return Duration(max(0, now.Sub(since)))
}

// Age returns the time since t in one or two units: "3m12s ago". It returns "" for the zero time.
func Age(now, t time.Time) string {
	if t.IsZero() || t.Unix() == 0 {
		return ""
	}
	d := now.Sub(t)
	if d < 0 {
		d = 0
	}
	return Duration(d) + " ago"
}

// NanosAge is Age for a time in Unix nanoseconds.
func NanosAge(now time.Time, nanos int64) string {
	if nanos == 0 {
		return ""
	}
	return Age(now, time.Unix(0, nanos))
}

// Duration formats a duration in its one or two largest units: 3m12s, 5h40m, 12d3h.
func Duration(d time.Duration) string {
	d = d.Round(time.Second)
	day := 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return two(d/time.Minute, "m", d%time.Minute/time.Second, "s")
	case d < day:
		return two(d/time.Hour, "h", d%time.Hour/time.Minute, "m")
	}
	return two(d/day, "d", d%day/time.Hour, "h")
}

func two(a time.Duration, unitA string, b time.Duration, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d%s", a, unitA)
	}
	return fmt.Sprintf("%d%s%d%s", a, unitA, b, unitB)
}

// When formats a time with its age.
func When(now time.Time, nanos int64) string {
	if nanos == 0 {
		return ""
	}
	t := time.Unix(0, nanos)
	return t.In(now.Location()).Format(time.RFC3339) + " (" + Age(now, t) + ")"
}
