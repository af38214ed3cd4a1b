// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// Quotas are shown to callers with the capability to read quotas, and to those with any capability
// in a namespace that the quota limits: they have to know why their jobs wait.

var quotasByName = order[*api.Quota]{key: func(q *api.Quota) key { return key{id: q.Name} }, stored: true}

func listQuotas(c *call, v *state.Snapshot) iter.Seq[*api.Quota] {
	return where(v.QuotasPrefix(c.prefix), c.quotaFilter(v))
}

func showQuota(_ *call, _ *state.Snapshot, q *api.Quota) *api.Quota { return q }

func showQuotaUsage(c *call, v *state.Snapshot, q *api.Quota) *api.QuotaUsage {
	return server.QuotaUsage(v, q, false, c.maySee)
}

func getQuota(c *call, v *state.Snapshot) (*api.Quota, uint64, error) {
	q, err := c.quota(v)
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return q, q.ModifyIndex, nil
}

func getQuotaUsage(c *call, v *state.Snapshot) (*api.QuotaUsage, uint64, error) {
	index := v.TableIndex(c.route.Tables...)
	q, err := c.quota(v)
	if err != nil {
		return nil, index, err
	}
	return server.QuotaUsage(v, q, true, func(namespace string) bool { return c.may(acl.ReadJob, namespace) }), index, nil
}

// quota returns the quota that the path names.
func (c *call) quota(v *state.Snapshot) (*api.Quota, error) {
	q := v.Quota(c.id())
	if c.mayReadQuotas() {
		return orNotFound(q, "quota %q not found", c.id())
	}
	if q == nil || !c.quotaFilter(v)(q) {
		return nil, c.forbidden("it reads the quotas of namespaces in which it has a capability; quota %.128q limits none of them", c.id())
	}
	return q, nil
}

// quotaFilter returns a function that reports whether the caller may read a quota.
func (c *call) quotaFilter(v *state.Snapshot) func(*api.Quota) bool {
	if c.mayReadQuotas() {
		return func(*api.Quota) bool { return true }
	}
	seen := map[string]bool{}
	for n := range v.NamespacesPrefix("") {
		if !c.maySee(n.Name) {
			continue
		}
		for _, name := range v.QuotasOf(n.Name) {
			seen[name] = true
		}
	}
	return func(q *api.Quota) bool { return seen[q.Name] }
}

func (c *call) mayReadQuotas() bool {
	r := c.rights()
	return r == nil || r.ACL.Allows(acl.Question{Capability: acl.ReadQuota})
}

func putQuota(c *call, q *api.Quota) (*api.IndexResponse, uint64, error) {
	enforce, err := c.cas()
	if err != nil {
		return nil, 0, err
	}
	index, err := c.Server.PutQuota(c.r.Context(), q, enforce)
	return &api.IndexResponse{Index: index}, index, err
}

func putNamedQuota(c *call, q *api.Quota) (*api.IndexResponse, uint64, error) {
	switch {
	case q.Name == "":
		q.Name = c.id()
	case q.Name != c.id():
		return nil, 0, api.Errorf(api.CodeInvalid, "Name: the quota in the body is %.128q, the one in the path %.128q", q.Name, c.id())
	}
	return putQuota(c, q)
}

func deleteQuota(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	index, err := c.Server.DeleteQuota(c.r.Context(), c.id())
	return &api.IndexResponse{Index: index}, index, err
}
