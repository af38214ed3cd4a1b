// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"
	"time"
)

func TestDurationsHaveTwoUnitsAtMost(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                               "0s",
		400 * time.Millisecond:          "0s",
		59 * time.Second:                "59s",
		60 * time.Second:                "1m",
		192 * time.Second:               "3m12s",
		5*time.Hour + 40*time.Minute:    "5h40m",
		24 * time.Hour:                  "1d",
		12*24*time.Hour + 3*time.Hour:   "12d3h",
		time.Hour + 59*time.Second:      "1h",
		59*time.Minute + 59*time.Second: "59m59s",
	} {
		if got := shortDuration(d); got != want {
			t.Errorf("shortDuration(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestAgesOfTheFutureAndOfNothing(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for _, test := range []struct {
		of   time.Time
		want string
	}{
		{now.Add(-90 * time.Second), "1m30s ago"},
		{now.Add(time.Hour), "0s ago"}, // clocks differ
		{time.Time{}, ""},
		{time.Unix(0, 0), ""},
	} {
		if got := age(now, test.of); got != test.want {
			t.Errorf("age of %s = %q, want %q", test.of, got, test.want)
		}
	}
}

func TestLastLines(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"a\nb\nc\n", 2, "b\nc\n"},
		{"a\nb\nc", 2, "b\nc"},
		{"a\nb\n", 5, "a\nb\n"},
		{"a\n\n\n", 2, "\n\n"},
		{"", 3, ""},
	} {
		if got := string(lastLines([]byte(test.text), test.n)); got != test.want {
			t.Errorf("last %d lines of %q = %q, want %q", test.n, test.text, got, test.want)
		}
	}
}

func TestColoursTakeNoRoom(t *testing.T) {
	s := style{on: true}
	if got := visibleWidth(s.green("grün") + s.bold("!")); got != 5 {
		t.Errorf("visible width = %d, want 5", got)
	}
}
