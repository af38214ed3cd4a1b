// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	live "github.com/reeve-run/reeve/internal/server/catalog"
)

// A catalogView is what one reader of the catalog's stream may see. A reader whose token has no management
// learns neither the ids of allocations of other namespaces nor, without node:read, those of nodes.
type catalogView struct {
	c       *call
	limited bool
	sent    map[string]bool // allocations that the reader knows, if it is limited
}

func (c *call) newCatalogView() *catalogView {
	_, limited := c.author()
	fixed := *c // the request's fields change while it is served
	return &catalogView{&fixed, limited, map[string]bool{}}
}

// line returns the part of a message that the reader may see. Readers that request all namespaces and may
// see them share one line.
func (w *catalogView) line(m *live.Message) ([]byte, error) {
	if w.c.namespace == allNamespaces && !w.limited {
		return m.Line()
	}
	u := &api.CatalogUpdate{Index: m.Index, Complete: m.Complete, Cluster: m.Cluster, Timeline: m.Timeline, Rewound: m.Rewound, Nodes: m.Nodes, Removed: m.Removed}
	if w.limited {
		w.hide(u)
	}
	for _, e := range m.Entries {
		if w.sees(e.Namespace) {
			u.Entries = append(u.Entries, e)
			if w.limited {
				w.sent[e.AllocID] = true
			}
		}
	}
	for _, s := range m.Stacks {
		if w.sees(s.Namespace) {
			u.Stacks = append(u.Stacks, s)
		}
	}
	if !u.Complete && len(u.Entries)+len(u.Removed)+len(u.Nodes)+len(u.Stacks) == 0 {
		return nil, nil
	}
	return (&live.Message{CatalogUpdate: u}).Line()
}

func (w *catalogView) sees(namespace string) bool {
	return w.c.inNamespace(namespace) && (!w.limited || w.c.mayRead(namespace))
}

// hide removes the ids that the reader does not know.
func (w *catalogView) hide(u *api.CatalogUpdate) {
	if u.Complete {
		clear(w.sent)
	}
	if !w.c.may(acl.ReadNode, "") {
		u.Nodes = nil
	}
	removed := u.Removed
	u.Removed = nil
	for _, id := range removed {
		if w.sent[id] {
			u.Removed = append(u.Removed, id)
			delete(w.sent, id)
		}
	}
}
