// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

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
