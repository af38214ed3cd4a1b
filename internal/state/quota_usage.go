// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Usage of quotas is derived: it is not part of snapshots. Changes of allocations adjust the sums of
// their job and of each quota of their namespace, by node pool. A namespace that no quota limits has
// no sums, and a cluster without quotas does nothing but compare a number with 0.

// usageName returns the name of the row of a job (namespace and id) or of a quota.
func usageName(of, pool string) string { return of + "\x00" + pool }

// meter adjusts the usage of quotas to a change of an allocation. old is nil for a new allocation,
// new for a deleted one.
func (t *txn) meter(old, new *api.Allocation) {
	switch {
	case t.limited == 0:
		return
	case old == nil:
	case new != nil && old.IsTerminal() == new.IsTerminal() && old.Job == new.Job && old.Group == new.Group:
		return
	default:
		t.meterOne(old, -1)
	}
	if new != nil {
		t.meterOne(new, +1)
	}
}

func (t *txn) meterOne(a *api.Allocation, sign int64) {
	use, pool := a.QuotaUse()
	if use == (api.QuotaUse{}) {
		return
	}
	names := t.QuotasOf(a.Namespace)
	if len(names) == 0 {
		return
	}
	t.addUsage(&t.jobUsage, usageName(jobName(a.Namespace, a.JobID), pool), use, sign)
	for _, name := range names {
		t.addUsage(&t.quotaUsage, usageName(name, pool), use, sign)
	}
}

// addUsage adds to a row (sign 1) or subtracts from it (-1). Rows without usage are removed.
func (t *txn) addUsage(rows *table[api.QuotaUse], name string, use api.QuotaUse, sign int64) {
	slot, row := rows.ensure(t.gen, name)
	if sign > 0 {
		*row = row.Add(use)
	} else {
		*row = row.Sub(use)
	}
	if *row == (api.QuotaUse{}) {
		rows.remove(t.gen, name, slot)
	}
}

// requota moves the usage of a namespace and its descendants when its quota changes.
func (t *txn) requota(old, new *api.Namespace) {
	var name, was, is string
	if old != nil {
		name, was = old.Name, old.Quota
	}
	if new != nil {
		name, is = new.Name, new.Quota
	}
	if was == is {
		return
	}
	if was != "" {
		t.limited--
	}
	if is != "" {
		t.limited++
	}
	type change struct{ before, after []string }
	changes := map[string]change{}
	t.jobs.prefix(name, func(_ string, r **jobRow) bool {
		row := *r
		if row.namespace != name && !strings.HasPrefix(row.namespace, name+"/") {
			return true
		}
		c, known := changes[row.namespace]
		if !known {
			c = change{t.quotasWith(row.namespace, name, was), t.quotasWith(row.namespace, name, is)}
			changes[row.namespace] = c
		}
		t.moveUsage(row, c.before, c.after)
		return true
	})
}

// moveUsage moves the usage of a job between quotas.
func (t *txn) moveUsage(row *jobRow, before, after []string) {
	for pool, use := range t.usageOfJob(row, len(before) > 0) {
		for _, quota := range before {
			if !slices.Contains(after, quota) {
				t.addUsage(&t.quotaUsage, usageName(quota, pool), use, -1)
			}
		}
		for _, quota := range after {
			if !slices.Contains(before, quota) {
				t.addUsage(&t.quotaUsage, usageName(quota, pool), use, +1)
			}
		}
		switch name := usageName(jobName(row.namespace, row.id), pool); {
		case len(before) == 0 && len(after) > 0:
			t.addUsage(&t.jobUsage, name, use, +1)
		case len(before) > 0 && len(after) == 0:
			t.addUsage(&t.jobUsage, name, use, -1)
		}
	}
}

// usageOfJob returns what a job uses, by node pool: its sums if a quota limits it already, or those
// of its allocations.
func (t *txn) usageOfJob(row *jobRow, limited bool) map[string]api.QuotaUse {
	sums := map[string]api.QuotaUse{}
	if limited {
		prefix := usageName(jobName(row.namespace, row.id), "")
		t.jobUsage.prefix(prefix, func(name string, u *api.QuotaUse) bool {
			sums[name[len(prefix):]] = *u
			return true
		})
		return sums
	}
	for a := range t.allocationsAt(row.allocations) {
		if use, pool := a.QuotaUse(); use != (api.QuotaUse{}) {
			sums[pool] = sums[pool].Add(use)
		}
	}
	return sums
}

// meterAll derives the usage of a loaded state.
func (t *txn) meterAll() {
	for n := range namespaces.stored(t.content, "") {
		if n.Quota != "" {
			t.limited++
		}
	}
	if t.limited == 0 {
		return
	}
	for a := range t.Allocations() {
		t.meterOne(a, +1)
	}
}

// QuotaUsed returns what counts against a quota, by the node pool of the jobs.
func (c *content) QuotaUsed(quota string) map[string]api.QuotaUse {
	sums := map[string]api.QuotaUse{}
	prefix := usageName(quota, "")
	c.quotaUsage.prefix(prefix, func(name string, u *api.QuotaUse) bool {
		sums[name[len(prefix):]] = *u
		return true
	})
	return sums
}

// QuotaJobs calls yield with what each job of a namespace or of its descendants uses, by node pool,
// in no particular order.
func (c *content) QuotaJobs(namespace string, yield func(api.QuotaJobUsage)) {
	c.jobUsage.prefix(namespace, func(name string, u *api.QuotaUse) bool {
		parts := strings.SplitN(name, "\x00", 3)
		if parts[0] == namespace || strings.HasPrefix(parts[0], namespace+"/") {
			yield(api.QuotaJobUsage{Namespace: parts[0], JobID: parts[1], NodePool: parts[2], QuotaUse: *u})
		}
		return true
	})
}
