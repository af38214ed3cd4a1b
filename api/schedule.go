// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/cronexpr"
)

// A Schedule is what a Periodic block says, ready to be asked for times. It is
// for one goroutine at a time.
//
// Where clocks are put forward or back, a schedule follows what people expect
// of cron: a time of day is met once on every day. One that the clocks jump over
// is met when they have jumped; one that comes twice is met the first time. An
// expression whose hours are "*" or a step of it goes by the time that passes
// instead: "*/10 * * * *" is met every ten minutes, whatever the clocks do.
type Schedule struct {
	specs []cronSpec
	loc   *time.Location
}

// cronSpec is one cron expression.
type cronSpec struct {
	expr  *cronexpr.Expression
	fixed bool // names hours of the day
}

// IsEnabled reports whether the schedule starts jobs.
func (p *Periodic) IsEnabled() bool { return p.Enabled == nil || *p.Enabled }

// ForbidsOverlap reports whether a start is passed over while an earlier one
// has not ended.
func (p *Periodic) ForbidsOverlap() bool { return p.ProhibitOverlap != nil && *p.ProhibitOverlap }

// Expressions returns all cron expressions of the block.
func (p *Periodic) Expressions() []string {
	var specs []string
	if p.Spec != "" {
		specs = append(specs, p.Spec)
	}
	return append(specs, p.Specs...)
}

// Schedule reads the block's expressions and time zone.
func (p *Periodic) Schedule() (*Schedule, error) {
	s := &Schedule{loc: time.UTC}
	if p.TimeZone != "" && p.TimeZone != "UTC" {
		loc, err := time.LoadLocation(p.TimeZone)
		if err != nil || p.TimeZone == "Local" {
			return nil, fmt.Errorf("time_zone %q: must be a name of the time zone database, such as \"Europe/Berlin\"", p.TimeZone)
		}
		s.loc = loc
	}
	for _, text := range p.Expressions() {
		spec, err := parseCron(text)
		if err != nil {
			return nil, err
		}
		s.specs = append(s.specs, spec)
	}
	if len(s.specs) == 0 {
		return nil, fmt.Errorf("no cron expression is given: set crons = [\"0 3 * * *\"]")
	}
	return s, nil
}

func parseCron(text string) (spec cronSpec, err error) {
	defer func() {
		if v := recover(); v != nil { // the parser's answer to some nonsense
			err = fmt.Errorf("cron expression %q: %v", text, v)
		}
	}()
	fields := strings.Fields(text)
	if len(fields) > 7 {
		return cronSpec{}, fmt.Errorf("cron expression %q has %d fields: it takes 5 (minute hour day month weekday), 6 (and a year) or 7 (a second before)", text, len(fields))
	}
	if spec.expr, err = cronexpr.Parse(text); err != nil {
		return cronSpec{}, fmt.Errorf("cron expression %q: %v: write \"minute hour day month weekday\", or @hourly, @daily, @weekly, @monthly, @yearly", text, err)
	}
	hour := ""
	switch len(fields) {
	case 5, 6:
		hour = fields[1]
	case 7:
		hour = fields[2]
	case 1:
		if fields[0] == "@hourly" {
			hour = "*"
		}
	}
	spec.fixed = !strings.HasPrefix(hour, "*")
	return spec, nil
}

// Next is the first due time after the given one; zero if there is none.
func (s *Schedule) Next(after time.Time) time.Time {
	var first time.Time
	for i := range s.specs {
		if t := s.specs[i].next(after, s.loc); !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// spans are how far back Latest looks, the nearest first: most schedules were
// due not long ago, and only sparse ones are searched over years.
var spans = []time.Duration{time.Minute, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour, 366 * 24 * time.Hour}

// Latest is the last due time after one and not after the other; zero if there
// is none.
func (s *Schedule) Latest(after, until time.Time) (latest time.Time) {
	for _, span := range spans {
		from := until.Add(-span)
		if from.Before(after) {
			from = after
		}
		for t := s.Next(from); !t.IsZero() && !t.After(until); t = s.Next(t) {
			latest = t
		}
		if !latest.IsZero() || from.Equal(after) {
			return latest
		}
	}
	for t := s.Next(after); !t.IsZero() && !t.After(until); t = s.Next(t) {
		latest = t
	}
	return latest
}

// next walks the stretches of time in which the zone's offset does not change.
// In each, the expression is asked in the time that clocks on the wall show.
func (c *cronSpec) next(after time.Time, loc *time.Location) time.Time {
	begin, end := after.In(loc).ZoneBounds()
	offset := offsetAt(after, loc)
	shown := after.UTC().Add(offset)
	if c.fixed && !begin.IsZero() {
		// What the clocks showed before they were put back is not met again.
		if passed := begin.UTC().Add(offsetAt(begin.Add(-1), loc) - 1); passed.After(shown) {
			shown = passed
		}
	}
	for {
		met := c.expr.Next(shown)
		if met.IsZero() {
			return time.Time{}
		}
		due := met.Add(-offset)
		if end.IsZero() || due.Before(end) {
			return due
		}
		before := offset
		offset = offsetAt(end, loc)
		if c.fixed && met.Before(end.UTC().Add(offset)) {
			return end.UTC() // the clocks jump over it
		}
		shown = end.UTC().Add(offset - 1)
		if c.fixed && before > offset {
			shown = end.UTC().Add(before - 1)
		}
		_, end = end.In(loc).ZoneBounds()
	}
}

func offsetAt(t time.Time, loc *time.Location) time.Duration {
	_, seconds := t.In(loc).Zone()
	return time.Duration(seconds) * time.Second
}
