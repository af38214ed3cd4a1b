// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package human

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
		if got := Duration(d); got != want {
			t.Errorf("Duration(%s) = %q, want %q", d, got, want)
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
		if got := Age(now, test.of); got != test.want {
			t.Errorf("age of %s = %q, want %q", test.of, got, test.want)
		}
	}
}
