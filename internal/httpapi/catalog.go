// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"

	live "github.com/reeve-run/reeve/internal/server/catalog"
)

// entriesByID lists the catalog by allocation id.
var entriesByID = order[*api.CatalogEntry]{
	key:    func(e *api.CatalogEntry) key { return key{id: e.AllocID} },
	stored: true,
}

func listCatalog(c *call, v *state.Snapshot) ([]*api.CatalogEntry, uint64, error) {
	if err := c.seeCatalog(); err != nil {
		return nil, 0, err
	}
	entries, _ := c.Server.Catalog().Entries()
	var all iter.Seq[*api.CatalogEntry] = func(yield func(*api.CatalogEntry) bool) {
		entries.Ascend(c.prefix, func(_ string, e *api.CatalogEntry) bool { return yield(e) })
	}
	page, err := pageOf(c, entriesByID, where(all, func(e *api.CatalogEntry) bool {
		return c.inNamespace(e.Namespace) && strings.HasPrefix(e.AllocID, c.prefix)
	}))
	if page == nil {
		page = []*api.CatalogEntry{}
	}
	return page, v.TableIndex(c.route.Tables...), err
}

// streamCatalog sends all entries, and then the changes. Slow readers are
// resynchronized with all entries.
func streamCatalog(c *call) error {
	if err := c.seeCatalog(); err != nil {
		return err
	}
	rewound := c.Server.Store().Snapshot().Lacks(c.told())
	subscription := c.Server.Catalog().Subscribe()
	s := newStream(c, lines)
	c.setIndex(c.Server.Store().Index())
	if err := s.start(); err != nil {
		return nil
	}
	stop := s.keepAlive("{}\n")
	err := func() error {
		for {
			m, err := subscription.Next(c.r.Context())
			if err != nil {
				return err
			}
			if rewound { // the first message is complete, and this reader's alone
				m.Rewound, rewound = true, false
			}
			line, err := c.catalogLine(m)
			if err != nil {
				return err
			}
			if line == nil {
				continue
			}
			if err := s.write(line); err != nil {
				return err
			}
		}
	}()
	stop()
	return s.end(err)
}

// catalogLine returns the part of a message that a caller may see. Callers that request
// all namespaces share one line.
func (c *call) catalogLine(m *live.Message) ([]byte, error) {
	if c.namespace == allNamespaces {
		return m.Line()
	}
	u := &api.CatalogUpdate{Index: m.Index, Complete: m.Complete, Cluster: m.Cluster, Timeline: m.Timeline, Rewound: m.Rewound, Nodes: m.Nodes, Removed: m.Removed}
	for _, e := range m.Entries {
		if c.inNamespace(e.Namespace) {
			u.Entries = append(u.Entries, e)
		}
	}
	for _, s := range m.Stacks {
		if c.inNamespace(s.Namespace) {
			u.Stacks = append(u.Stacks, s)
		}
	}
	if !u.Complete && len(u.Entries)+len(u.Removed)+len(u.Nodes)+len(u.Stacks) == 0 {
		return nil, nil
	}
	return (&live.Message{CatalogUpdate: u}).Line()
}
