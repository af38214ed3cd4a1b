// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

var orphansByID = order[*api.Orphan]{
	key:    func(o *api.Orphan) key { return key{id: o.Allocation.ID} },
	stored: true,
}

func listOrphans(c *call, v *state.Snapshot) ([]*api.Orphan, uint64, error) {
	now := time.Now()
	page, err := pageOf(c, orphansByID, func(yield func(*api.Orphan) bool) {
		for a := range v.Orphans() {
			if a.IsClientTerminal() || !c.inNamespace(a.Namespace) || !strings.HasPrefix(a.ID, c.prefix) {
				continue
			}
			domain := api.DomainOf(v.Job(a.Namespace, a.JobID), a)
			if !yield(&api.Orphan{Allocation: a.Stub(), Domain: domain, Fresh: v.Domain(domain).IsFresh(now)}) {
				return
			}
		}
	})
	if page == nil {
		page = []*api.Orphan{}
	}
	return page, v.TableIndex(c.route.Tables...), err
}

func offerOrphans(c *call, req *api.OfferOrphansRequest) (*api.OfferOrphansResponse, uint64, error) {
	res, err := c.Server.OfferOrphans(c.r.Context(), c.id(), req)
	if err != nil {
		return nil, 0, err
	}
	return res, res.Index, nil
}
