// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocset

import "github.com/reeve-run/reeve/api"

// EncodeUpdates returns the set of the allocations with only the fields that nodes
// report.
func EncodeUpdates(updates []*api.Allocation) *Allocations {
	if len(updates) == 0 {
		return nil
	}
	e := encoders.Get().(*Encoder)
	e.begin(len(updates))
	for _, u := range updates {
		if u == nil {
			continue
		}
		w := e.next(u.ID)
		w.ModifyTime = u.ModifyTime
		w.ClientStatus, w.ClientDescription = e.name(u.ClientStatus), e.name(u.ClientDescription)
		if u.NetworkStatus != nil {
			w.RestJson = restOfAllocation(&api.Allocation{NetworkStatus: u.NetworkStatus})
		}
		e.addHealthAndTasks(w, u)
		e.set.Allocations = append(e.set.Allocations, w)
	}
	return e.finish()
}
