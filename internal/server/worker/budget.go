// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/quota"
)

// limit gives the order what is left of the namespace's quotas. The newest state counts: an older one
// may lack placements of other jobs, which the reservations do not contain any more. The reservations
// are read first, so that a placement in between is in one of them.
func (env Env) limit(o *placement.Order, result *plan.Result) {
	if env.Store.Snapshot().QuotasOf(o.Namespace) == nil {
		return
	}
	reserved := env.Fleet.Reserved()
	newest := env.Store.Snapshot()
	o.Budget = quota.New(newest, o.Namespace)
	if o.Budget == nil {
		return
	}
	for _, a := range reserved {
		if newest.Allocation(a.ID) == nil {
			o.Budget.Reserve(a)
		}
	}
	o.Counts = func(id string) bool {
		a := newest.Allocation(id)
		return a != nil && !a.IsTerminal()
	}
	returnStopped(o.Budget, result, o.Counts)
}

// returnStopped returns to the budget what the stops of a result free, whatever is placed.
func returnStopped(b *quota.Budget, result *plan.Result, counts func(id string) bool) {
	if b == nil {
		return
	}
	for _, s := range result.Stop {
		if counts == nil || counts(s.Alloc.ID) {
			b.Return(s.Alloc.QuotaUse())
		}
	}
}
