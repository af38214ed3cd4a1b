// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// BeginCluster names a cluster that has no name yet. It marks the domain of jobs without a
// domain as fresh indefinitely, until evidence shows that the servers lack state.
type BeginCluster struct {
	ID   string
	Time int64 // Unix nanoseconds
}

// Name implements Command.
func (c *BeginCluster) Name() string { return "BeginCluster" }

func (c *BeginCluster) apply(t *txn) error {
	switch {
	case c.ID == "":
		return api.Errorf(api.CodeInvalid, "a cluster needs an ID")
	case t.cluster.id != "":
		return api.Errorf(api.CodeConflict, "the cluster began already: it is %s", t.cluster.id)
	}
	t.cluster.id = c.ID
	if t.Domain("") == nil {
		domains.put(t, &api.Domain{Unproven: true})
	}
	t.touch(TableDomains)
	return nil
}

func (c *BeginCluster) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_BeginCluster{BeginCluster: &wire.BeginCluster{Id: c.ID, Time: c.Time}}}
}

// PutDomain marks a domain as fresh until a time, in any previous state.
type PutDomain struct {
	Domain     string
	FreshUntil int64 // Unix nanoseconds; 0: indefinitely
}

// Name implements Command.
func (c *PutDomain) Name() string { return "PutDomain" }

func (c *PutDomain) apply(t *txn) error {
	d := &api.Domain{Name: c.Domain}
	if c.FreshUntil != 0 {
		d.FreshUntil = time.Unix(0, c.FreshUntil).UTC()
	}
	domains.put(t, d)
	return nil
}

func (c *PutDomain) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_PutDomain{PutDomain: &wire.PutDomain{Name: c.Domain, FreshUntil: c.FreshUntil}}}
}

// EndFreshness makes domains stale immediately.
type EndFreshness struct {
	Domains []string
	All     bool // every domain
}

// Name implements Command.
func (c *EndFreshness) Name() string { return "EndFreshness" }

func (c *EndFreshness) apply(t *txn) error {
	for _, name := range c.Domains {
		if t.Domain(name) == nil {
			return api.Errorf(api.CodeNotFound, "domain %q not found: it was never marked as fresh", name)
		}
	}
	for _, name := range c.Domains {
		t.endFreshness(name)
	}
	if c.All {
		t.endAllFreshness()
	}
	return nil
}

func (c *EndFreshness) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_EndFreshness{EndFreshness: &wire.EndFreshness{Names: c.Domains, All: c.All}}}
}
