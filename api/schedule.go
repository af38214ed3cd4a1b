// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/cronexpr"
)

// A Schedule computes the due times of a Periodic block. It is not safe for concurrent use.
//
// Where clocks change, a schedule follows the expectations of cron's users: a time of day is
// due once on every day. A time that the clocks skip is due right after the change, and a
// time that occurs twice is due the first time. An expression whose hours are "*" or a step
// of it follows elapsed time instead: "*/10 * * * *" is due every ten minutes, also across
// changes of the clocks.
type Schedule struct {
	specs []cronSpec
	loc   *time.Location
}

// A cronSpec is one cron expression.
type cronSpec struct {
	expr  *cronexpr.Expression
	fixed bool // reports whether it names hours of the day
}

// IsEnabled reports whether the schedule starts jobs.
func (p *Periodic) IsEnabled() bool { return p.Enabled == nil || *p.Enabled }

// ForbidsOverlap reports whether a due time is skipped while an earlier child has not ended.
func (p *Periodic) ForbidsOverlap() bool { return p.ProhibitOverlap != nil && *p.ProhibitOverlap }

// Expressions returns all cron expressions of the block.
func (p *Periodic) Expressions() []string {
	var specs []string
	if p.Spec != "" {
		specs = append(specs, p.Spec)
	}
	return append(specs, p.Specs...)
}

// Schedule parses the block's expressions and time zone.
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
		if v := recover(); v != nil { // the parser panics on some invalid input
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

// Next returns the first due time after the given one; zero if no due time follows.
func (s *Schedule) Next(after time.Time) time.Time {
	var first time.Time
	for i := range s.specs {
		if t := s.specs[i].next(after, s.loc); !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// spans are the periods that Latest searches, the shortest first: most schedules were due
// recently, and only sparse ones need a search over years.
var spans = []time.Duration{time.Minute, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour, 366 * 24 * time.Hour}

// Latest returns the last due time after one time and not after another; zero if the period
// has none.
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

// next walks the periods of constant time zone offset. In each, it evaluates the expression
// in local time.
func (c *cronSpec) next(after time.Time, loc *time.Location) time.Time {
	begin, end := after.In(loc).ZoneBounds()
	offset := offsetAt(after, loc)
	shown := after.UTC().Add(offset)
	if c.fixed && !begin.IsZero() {
		// Local times from before the clocks were put back are not due again.
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
			return end.UTC() // the clocks skip it
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
