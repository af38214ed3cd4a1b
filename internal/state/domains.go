// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// ClusterID returns the cluster's id, which lasts as long as its state: servers that start
// with an empty state get a new id. It is "" before the first leader has begun the
// cluster.
func (c *content) ClusterID() string { return c.cluster.id }

// domains holds every domain that was ever marked.
var domains = declare(noun[api.Domain]{
	name: "domains", singular: "domain", verb: "Domain", frame: 10,
	key:   func(d *api.Domain) string { return d.Name },
	stamp: func(d *api.Domain) (create, modify *uint64) { return &d.CreateIndex, &d.ModifyIndex },
	count: func(end *endRecord) *int { return &end.Domains },
	topic: api.TopicDomain,
	eventType: func(_ Op, d *api.Domain) string {
		if d.Stale {
			return api.EventTypeDomainStale
		}
		return api.EventTypeDomainFresh
	},
})

// TableDomains holds *api.Domain.
var TableDomains = domains.table

// Domain returns the domain of that name, nil if it was never marked. A nil domain is not
// fresh.
func (c *content) Domain(name string) *api.Domain { return domains.find(c, name) }

// Domains yields all domains that were ever marked, ordered by name.
func (c *content) Domains() iter.Seq[*api.Domain] { return domains.all(c, "") }

// endFreshness makes a domain stale if it was marked and is not stale yet.
func (t *txn) endFreshness(name string) {
	if old := t.Domain(name); old != nil && !old.Stale {
		domains.put(t, &api.Domain{Name: name, Stale: true})
	}
}

// endAllFreshness makes every marked domain stale. It must be called when the state may be
// older than it once was.
func (t *txn) endAllFreshness() {
	for _, d := range slices.Collect(t.Domains()) {
		t.endFreshness(d.Name)
	}
}

// A clusterRecord is the cluster's part of a snapshot.
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
