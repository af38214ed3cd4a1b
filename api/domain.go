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

// A Domain is a set of jobs that one consumer owns, with a freshness: until when
// the servers may trust that they know all of them. Only in a fresh domain is an
// instance stopped because no job wants it.
type Domain struct {
	Name string // "" is the domain of jobs that name none
	// FreshUntil is when the freshness ends; the zero time: never.
	FreshUntil time.Time
	Stale      bool `json:",omitempty"` // it was ended before its time; FreshUntil says nothing
	// Unproven is set while nobody but the beginning of the cluster has marked it:
	// then the first orphan that is found in it ends its freshness.
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
	// TTL is for how long: a duration such as "20s", or a number of seconds; ""
	// or 0: for ever.
	TTL string
}

// An Orphan is an allocation that runs on a node although no registered job
// wants it.
type Orphan struct {
	Allocation *AllocationListStub
	Domain     string
	Fresh      bool // it is about to be stopped
}

// DomainNone stands in paths for the domain of jobs that name none, whose name
// is empty.
const DomainNone = "@none"

// DomainPath is a domain's name as paths have it.
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

// ParseTTL reads for how long a domain is to be fresh; 0 is for ever.
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
		return 0, fmt.Errorf("%q is more than 100 years: leave it out, or say 0, for ever", text)
	}
	return d, nil
}

// maxTTL bounds a TTL so that its end can be told in nanoseconds.
const maxTTL = 100 * 365 * 24 * time.Hour

// Validate reports everything that is wrong with marking the domain of that
// name, as one error.
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

// DomainOf is the domain that guards an allocation: that of its registered job,
// or else, job being nil, the one that it brought along.
func DomainOf(job *Job, a *Allocation) string {
	switch {
	case job != nil:
		return job.Domain
	case a.Job != nil:
		return a.Job.Domain
	}
	return ""
}
