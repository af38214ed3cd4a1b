// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"strings"
	"testing"
	"time"

	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func schedule(t *testing.T, zone string, specs ...string) *Schedule {
	t.Helper()
	s, err := (&Periodic{Specs: specs, TimeZone: zone}).Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The clocks of Berlin go from 02:00 to 03:00 on 2027-03-28 and from 03:00 back
// to 02:00 on 2027-10-31; those of Lord Howe Island by half an hour, from 02:00
// to 02:30 on 2027-10-03.
func TestScheduleDueTimes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		zone  string
		specs []string
		after string
		want  []string // UTC
	}{
		{"five fields", "", []string{"*/15 * * * *"}, "2027-01-01T00:07:30Z",
			[]string{"2027-01-01T00:15:00Z", "2027-01-01T00:30:00Z"}},
		{"a due time is met once", "", []string{"0 * * * *"}, "2027-01-01T01:00:00Z", []string{"2027-01-01T02:00:00Z"}},
		{"hourly", "", []string{"@hourly"}, "2027-01-01T00:00:01Z", []string{"2027-01-01T01:00:00Z", "2027-01-01T02:00:00Z"}},
		{"seconds", "", []string{"*/20 * * * * * *"}, "2027-01-01T00:00:01Z", []string{"2027-01-01T00:00:20Z", "2027-01-01T00:00:40Z"}},
		{"several, at once or not", "", []string{"0 6 * * *", "0 */6 * * *", "30 7 * * *"}, "2027-01-01T05:00:00Z",
			[]string{"2027-01-01T06:00:00Z", "2027-01-01T07:30:00Z", "2027-01-01T12:00:00Z"}},
		{"a year that ends", "", []string{"0 0 1 1 * 2028"}, "2027-01-01T00:00:00Z", []string{"2028-01-01T00:00:00Z", ""}},
		{"the last day of a month", "", []string{"0 0 L * *"}, "2028-02-01T00:00:00Z", []string{"2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z"}},
		{"in its zone", "Europe/Berlin", []string{"0 3 * * *"}, "2027-01-01T00:00:00Z", []string{"2027-01-01T02:00:00Z"}},

		{"clocks jump over it", "Europe/Berlin", []string{"30 2 * * *"}, "2027-03-27T12:00:00Z",
			[]string{"2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"}},
		{"they jump over several", "Europe/Berlin", []string{"0,20,40 2 * * *"}, "2027-03-27T12:00:00Z",
			[]string{"2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z"}},
		{"they jump to it", "Europe/Berlin", []string{"0 3 * * *"}, "2027-03-27T12:00:00Z",
			[]string{"2027-03-28T01:00:00Z", "2027-03-29T01:00:00Z"}},
		{"they jump by half an hour", "Australia/Lord_Howe", []string{"15 2 * * *"}, "2027-10-02T00:00:00Z",
			[]string{"2027-10-02T15:30:00Z", "2027-10-03T15:15:00Z"}},
		{"it comes twice", "Europe/Berlin", []string{"30 2 * * *"}, "2027-10-30T12:00:00Z",
			[]string{"2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"}},
		{"asked between the two", "Europe/Berlin", []string{"30 2 * * *"}, "2027-10-31T01:10:00Z", []string{"2027-11-01T01:30:00Z"}},
		{"right after both", "Europe/Berlin", []string{"0 3 * * *"}, "2027-10-30T12:00:00Z",
			[]string{"2027-10-31T02:00:00Z", "2027-11-01T02:00:00Z"}},
		{"every hour, when one comes twice", "Europe/Berlin", []string{"30 * * * *"}, "2027-10-30T23:45:00Z",
			[]string{"2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z", "2027-10-31T02:30:00Z"}},
		{"every hour, when one is left out", "Europe/Berlin", []string{"30 * * * *"}, "2027-03-28T00:00:00Z",
			[]string{"2027-03-28T00:30:00Z", "2027-03-28T01:30:00Z"}},
		{"@hourly, when one comes twice", "Europe/Berlin", []string{"@hourly"}, "2027-10-31T00:00:00Z",
			[]string{"2027-10-31T01:00:00Z", "2027-10-31T02:00:00Z"}},
		{"@daily where a day has no midnight", "America/Asuncion", []string{"@daily"}, "2020-10-03T12:00:00Z",
			[]string{"2020-10-04T04:00:00Z", "2020-10-05T03:00:00Z"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := schedule(t, tt.zone, tt.specs...)
			var got []string
			next := at(t, tt.after)
			for range tt.want {
				if next = s.Next(next); next.IsZero() {
					got = append(got, "")
					break
				}
				got = append(got, next.UTC().Format(time.RFC3339))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("due after %s (-want +got):\n%s", tt.after, diff)
			}
		})
	}
}

func TestScheduleRefusesInWords(t *testing.T) {
	for _, tt := range []struct {
		p    Periodic
		want string
	}{
		{Periodic{}, "no cron expression"},
		{Periodic{Spec: "* * *"}, `"* * *": missing field(s)`},
		{Periodic{Spec: "61 * * * *"}, `"61 * * * *"`},
		{Periodic{Spec: "0 0 0 0 0 0 0 0"}, "has 8 fields"},
		{Periodic{Spec: "@never"}, `"@never"`},
		{Periodic{Spec: "@daily", TimeZone: "Europe/Atlantis"}, `time_zone "Europe/Atlantis"`},
		{Periodic{Spec: "@daily", TimeZone: "Local"}, `time_zone "Local"`},
	} {
		if _, err := tt.p.Schedule(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want one with %q", tt.p, err, tt.want)
		}
	}
}

// A time of day that a schedule names is met exactly once on every day, on
// those of changing clocks too.
func TestScheduleMeetsATimeOfDayOnceADay(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu", "Africa/Casablanca"}
	rapid.Check(t, func(r *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(r, "zone")
		hour, minute := rapid.IntRange(0, 23).Draw(r, "hour"), rapid.IntRange(0, 59).Draw(r, "minute")
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		s, err := (&Periodic{Spec: itoa(minute) + " " + itoa(hour) + " * * *", TimeZone: zone}).Schedule()
		if err != nil {
			t.Fatal(err)
		}
		year := rapid.IntRange(2010, 2030).Draw(r, "year")
		next := time.Date(year, 1, 1, 0, 0, 0, 0, loc).Add(-1)
		for day := time.Date(year, 1, 1, 12, 0, 0, 0, loc); day.Year() == year; day = day.AddDate(0, 0, 1) {
			next = s.Next(next)
			if got := next.In(loc); got.Year() != year || got.YearDay() != day.YearDay() {
				r.Fatalf("%s: %02d:%02d is due %s, want once on %s", zone, hour, minute, got, day.Format(time.DateOnly))
			}
		}
	})
}

func itoa(n int) string { return strconv.Itoa(n) }

func TestScheduleFindsTheLatest(t *testing.T) {
	now := at(t, "2027-06-01T12:00:30Z")
	for _, tt := range []struct{ spec, after, want string }{
		{"* * * * *", "2020-01-01T00:00:00Z", "2027-06-01T12:00:00Z"},
		{"0 12 * * *", "2027-06-01T11:59:00Z", "2027-06-01T12:00:00Z"},
		{"0 12 * * *", "2027-06-01T12:00:00Z", ""},
		{"0 0 29 2 *", "2020-01-01T00:00:00Z", "2024-02-29T00:00:00Z"},
		{"*/5 * * * * * *", "2020-01-01T00:00:00Z", "2027-06-01T12:00:30Z"},
	} {
		got := ""
		if latest := schedule(t, "", tt.spec).Latest(at(t, tt.after), now); !latest.IsZero() {
			got = latest.Format(time.RFC3339)
		}
		if got != tt.want {
			t.Errorf("%s since %s was due last at %q, want %q", tt.spec, tt.after, got, tt.want)
		}
	}
}

func FuzzSchedule(f *testing.F) {
	for _, spec := range []string{"* * * * *", "@daily", "0 0 L * 5#2", "0-59/7 1,2 15W JAN MON 2027", "*/0 * * * *", "5-1 * * * *"} {
		f.Add(spec, "Europe/Berlin", int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, spec, zone string, unix int64) {
		s, err := (&Periodic{Spec: spec, TimeZone: zone}).Schedule()
		if err != nil || unix < 0 || unix > 1<<33 {
			return
		}
		after := time.Unix(unix, 0)
		if next := s.Next(after); !next.IsZero() && !next.After(after) {
			t.Errorf("%q in %q: due %s, not after %s", spec, zone, next, after)
		}
	})
}
