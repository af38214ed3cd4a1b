// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
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
		return c.inNamespace(e.Namespace) && c.mayRead(e.Namespace) && strings.HasPrefix(e.AllocID, c.prefix)
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
	view := c.newCatalogView()
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
			line, err := view.line(m)
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
