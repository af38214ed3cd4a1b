// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

var domainsByName = order[*api.Domain]{
	key:    func(d *api.Domain) key { return key{id: d.Name} },
	stored: true,
}

func listDomains(c *call, v *state.Snapshot) ([]*api.Domain, uint64, error) {
	all, err := c.flag("all")
	if err != nil {
		return nil, 0, err
	}
	now := time.Now()
	page, err := pageOf(c, domainsByName, where(v.Domains(), func(d *api.Domain) bool {
		return strings.HasPrefix(d.Name, c.prefix) && (all || d.IsFresh(now))
	}))
	if page == nil {
		page = []*api.Domain{}
	}
	return page, v.TableIndex(c.route.Tables...), err
}

func getDomain(c *call, v *state.Snapshot) (*api.Domain, uint64, error) {
	name := api.DomainOfPath(c.id())
	d, err := orNotFound(v.Domain(name), "domain %q not found: it was never marked as fresh", name)
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return d, d.ModifyIndex, nil
}

func putDomain(c *call, req *api.DomainRequest) (*api.IndexResponse, uint64, error) {
	index, err := c.Server.MarkDomain(c.r.Context(), api.DomainOfPath(c.id()), req)
	return &api.IndexResponse{Index: index}, index, err
}

func endFreshness(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	index, err := c.Server.EndFreshness(c.r.Context(), api.DomainOfPath(c.id()))
	return &api.IndexResponse{Index: index}, index, err
}
