// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// ClusterID names the cluster for as long as its state lives: servers that begin
// with nothing get another. It is "" before the first leader began.
func (c *content) ClusterID() string { return c.cluster.id }

// Domain returns the domain of that name, nil if nobody ever marked it. One that
// is nil is not fresh.
func (c *content) Domain(name string) *api.Domain {
	if i, ok := findDomain(c.cluster.domains, name); ok {
		return c.cluster.domains[i]
	}
	return nil
}

// Domains yields all domains that were ever marked, ordered by name.
func (c *content) Domains() iter.Seq[*api.Domain] { return slices.Values(c.cluster.domains) }

func findDomain(domains []*api.Domain, name string) (int, bool) {
	return slices.BinarySearchFunc(domains, name, func(d *api.Domain, name string) int { return cmp.Compare(d.Name, name) })
}

func (t *txn) putDomain(d *api.Domain) {
	d.CreateIndex, d.ModifyIndex = t.index, t.index
	old := t.Domain(d.Name)
	if old != nil {
		d.CreateIndex = old.CreateIndex
	}
	t.cluster.putDomain(d)
	t.emit(TableDomains, Put, orNil(old), d)
}

func (c *cluster) putDomain(d *api.Domain) {
	i, ok := findDomain(c.domains, d.Name)
	c.domains = slices.Clone(c.domains)
	if ok {
		c.domains[i] = d
	} else {
		c.domains = slices.Insert(c.domains, i, d)
	}
}

// endFreshness makes a domain stale, if it is not.
func (t *txn) endFreshness(name string) {
	if old := t.Domain(name); old != nil && !old.Stale {
		t.putDomain(&api.Domain{Name: name, Stale: true})
	}
}

// endAllFreshness makes every domain stale. That is what has to be done when
// the state may be older than what it once knew.
func (t *txn) endAllFreshness() {
	for _, d := range t.cluster.domains {
		t.endFreshness(d.Name)
	}
}

// clusterRecord is what a snapshot says of the cluster itself.
type clusterRecord struct {
	ID        string
	Timelines []timeline `json:",omitempty"`
}

func (l *loader) loadCluster(payload []byte) error {
	var r clusterRecord
	if err := json.Unmarshal(payload, &r); err != nil {
		return err
	}
	l.cluster.id, l.cluster.timelines = r.ID, r.Timelines
	return nil
}

func (l *loader) loadDomain(d *api.Domain) error {
	if l.Domain(d.Name) != nil {
		return fmt.Errorf("domain %q is there twice", d.Name)
	}
	l.cluster.putDomain(d)
	return nil
}
