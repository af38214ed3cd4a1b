// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Domain is a set of jobs with one owner, and a freshness: the time until which the
// servers may assume that they know all of these jobs. Only in a fresh domain is an
// instance stopped because it has no job.
type Domain struct {
	Name string // "" is the domain of jobs that name none
	// FreshUntil is the end of the freshness; the zero time: no end.
	FreshUntil time.Time
	Stale      bool `json:",omitempty"` // reports whether the freshness was ended early; FreshUntil is then meaningless
	// Unproven is set while only the start of the cluster has marked the domain. The first
	// orphan found in such a domain ends its freshness.
	Unproven    bool `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64
}

// IsFresh reports whether the domain is fresh at a time.
func (d *Domain) IsFresh(now time.Time) bool {
	return d != nil && !d.Stale && (d.FreshUntil.IsZero() || d.FreshUntil.After(now))
}

// DomainRequest marks a domain as fresh.
type DomainRequest struct {
	// TTL is the duration of the freshness: a duration such as "20s", or a number of
	// seconds; "" or 0: no end.
	TTL string
}

// An Orphan is an allocation that runs on a node without a registered job.
type Orphan struct {
	Allocation *AllocationListStub
	Domain     string
	Fresh      bool // reports whether its domain is fresh, so that it is about to be stopped
}

// DomainNone represents, in paths, the domain of jobs without a domain, whose name is
// empty.
const DomainNone = "@none"

// DomainPath returns a domain's name as a path segment.
func DomainPath(name string) string {
	if name == "" {
		return DomainNone
	}
	return name
}

// DomainOfPath is the inverse of DomainPath.
func DomainOfPath(segment string) string {
	if segment == DomainNone {
		return ""
	}
	return segment
}

// ParseTTL parses the duration of a domain's freshness; 0 means no end.
func ParseTTL(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if seconds, e := strconv.ParseUint(text, 10, 64); e == nil {
		if d, err = time.Duration(seconds)*time.Second, nil; seconds > uint64(maxTTL/time.Second) {
			d = maxTTL + 1
		}
	} else if errors.Is(e, strconv.ErrRange) {
		d, err = maxTTL+1, nil
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is neither a duration such as \"20s\" nor a number of seconds up to %d", text, int64(maxTTL/time.Second))
	case d < 0:
		return 0, fmt.Errorf("%q has passed already: it must not be negative", text)
	case d > maxTTL:
		return 0, fmt.Errorf("%q is more than 100 years: leave it out, or set it to 0, for no end", text)
	}
	return d, nil
}

// maxTTL bounds a TTL so that its end fits into nanoseconds.
const maxTTL = 100 * 365 * 24 * time.Hour

// Validate returns an error that lists everything that is wrong with marking the domain of
// that name, or nil.
func (r *DomainRequest) Validate(name string) error {
	var c complaints
	c.checkDomain("name", name)
	if _, err := ParseTTL(r.TTL); err != nil {
		c.add("TTL: %v", err)
	}
	return c.err("the domain cannot be marked")
}

func (c *complaints) checkDomain(what, name string) {
	switch {
	case name == DomainNone:
		c.add("%s %q: stands for jobs without a domain: choose another", what, name)
	case name != "" && !isName(name, "/"):
		c.add("%s %q: must be 1 to %d characters without white space and /", what, name, maxNameLength)
	}
}

// DomainOf returns the domain that guards an allocation: that of its registered job or, if
// job is nil, that of the allocation's own copy of the job.
func DomainOf(job *Job, a *Allocation) string {
	switch {
	case job != nil:
		return job.Domain
	case a.Job != nil:
		return a.Job.Domain
	}
	return ""
}
