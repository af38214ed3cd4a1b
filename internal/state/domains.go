// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// ClusterID names the cluster for as long as its state lives: servers that begin
// with nothing get another. It is "" before the first leader began.
func (c *content) ClusterID() string { return c.cluster.id }

// domains holds every domain that somebody ever marked.
var domains = declare(noun[api.Domain]{
	name: "domains", singular: "domain", verb: "Domain", frame: 10,
	key:   func(d *api.Domain) string { return d.Name },
	stamp: func(d *api.Domain) (create, modify *uint64) { return &d.CreateIndex, &d.ModifyIndex },
	count: func(end *endRecord) *int { return &end.Domains },
})

// TableDomains holds *api.Domain.
var TableDomains = domains.table

// Domain returns the domain of that name, nil if nobody ever marked it. One that
// is nil is not fresh.
func (c *content) Domain(name string) *api.Domain { return domains.find(c, name) }

// Domains yields all domains that were ever marked, ordered by name.
func (c *content) Domains() iter.Seq[*api.Domain] { return domains.all(c, "") }

// endFreshness makes a domain stale, if it is not.
func (t *txn) endFreshness(name string) {
	if old := t.Domain(name); old != nil && !old.Stale {
		domains.put(t, &api.Domain{Name: name, Stale: true})
	}
}

// endAllFreshness makes every domain stale. That is what has to be done when
// the state may be older than what it once knew.
func (t *txn) endAllFreshness() {
	for _, d := range slices.Collect(t.Domains()) {
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
