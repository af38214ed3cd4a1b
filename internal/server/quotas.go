// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// PutQuota stores a quota, new or changed. A limit below the usage stops nothing: it keeps further
// instances from being placed. enforce is as in PutNamespace.
func (s *Server) PutQuota(ctx context.Context, q *api.Quota, enforce *uint64) (uint64, error) {
	if err := q.Validate(); err != nil {
		return 0, err
	}
	for _, l := range q.Limits {
		if l.Region != "" && l.Region != s.cfg.Region {
			return 0, api.Errorf(api.CodeInvalid, "quota %q limits region %.128q, and this cluster is region %q; change Region, or remove it", q.Name, l.Region, s.cfg.Region)
		}
	}
	stored := *q
	stored.SetHashes(s.cfg.Region)
	return s.propose(ctx, state.PutQuota(&stored, enforce))
}

// DeleteQuota deletes a quota that no namespace names.
func (s *Server) DeleteQuota(ctx context.Context, name string) (uint64, error) {
	return s.propose(ctx, state.DeleteQuota(name))
}

// quotaJobsShown bounds the jobs in the usage of a quota.
const quotaJobsShown = 100

// QuotaUsage returns what counts against a quota, in all node pools and in those with limits of their
// own. jobs adds the largest jobs that visible selects.
func QuotaUsage(v *state.Snapshot, q *api.Quota, jobs bool, visible func(namespace string) bool) *api.QuotaUsage {
	u := &api.QuotaUsage{
		Name: q.Name, Used: map[string]*api.QuotaLimit{}, Namespaces: []string{}, Jobs: []*api.QuotaJobUsage{},
		CreateIndex: q.CreateIndex, ModifyIndex: q.ModifyIndex,
	}
	used := v.QuotaUsed(q.Name)
	for _, l := range q.Limits {
		limit := &api.QuotaLimit{Region: l.Region, Hash: l.Hash, RegionLimit: sum(used, "").Resources()}
		for _, p := range l.RegionLimit.NodePools {
			limit.RegionLimit.NodePools = append(limit.RegionLimit.NodePools, sum(used, p.NodePool).PoolLimit(p.NodePool))
		}
		u.Used[base64.StdEncoding.EncodeToString(l.Hash)] = limit
	}
	for _, name := range v.NamespacesOfQuota(q.Name) {
		if visible(name) {
			u.Namespaces = append(u.Namespaces, name)
		}
		if !jobs || coveredByParent(v, name, q.Name) {
			continue
		}
		v.QuotaJobs(name, func(j api.QuotaJobUsage) {
			u.JobCount++
			if visible(j.Namespace) {
				u.Jobs = append(u.Jobs, &j)
			}
		})
	}
	slices.SortFunc(u.Jobs, largerJob)
	u.Jobs = u.Jobs[:min(len(u.Jobs), quotaJobsShown)]
	return u
}

// sum returns what counts against the limits of a node pool; "": of all.
func sum(used map[string]api.QuotaUse, pool string) (total api.QuotaUse) {
	room := api.QuotaRoom{NodePool: pool}
	for of, use := range used {
		if room.Counts(of) {
			total = total.Add(use)
		}
	}
	return total
}

// coveredByParent reports whether an ancestor of the namespace names the quota too, so that its jobs
// include those of the namespace.
func coveredByParent(v *state.Snapshot, namespace, quota string) bool {
	for parent := api.ParentNamespace(namespace); parent != ""; parent = api.ParentNamespace(parent) {
		if n := v.Namespace(parent); n != nil && n.Quota == quota {
			return true
		}
	}
	return false
}

func largerJob(a, b *api.QuotaJobUsage) int {
	return cmp.Or(
		cmp.Compare(b.MemoryMB, a.MemoryMB), cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.Cores, a.Cores), cmp.Compare(b.Allocations, a.Allocations),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.JobID, b.JobID), cmp.Compare(a.NodePool, b.NodePool))
}
