// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalogentry

import "github.com/reeve-run/reeve/api"

// OfStack returns the entry of a stack outside of Reeve, or nil for other stacks and for one that was
// removed. The entry looks like that of a single instance: the stack's id stands for an
// allocation. Like instances of other stacks, it exists also while the stack has no share.
func OfStack(s *api.Stack) *api.CatalogEntry {
	if !s.IsExternal() || s.Status == api.StackTerminated {
		return nil
	}
	e := &api.CatalogEntry{
		AllocID: s.ID, Namespace: s.Namespace, JobID: s.Name, Group: api.ShapeExternal, StackAddress: s.Address, Index: s.ModifyIndex,
	}
	for i, r := range s.ExternalJob().Groups[0].Routes {
		e.Endpoints = append(e.Endpoints, &api.Endpoint{Route: r, Address: s.Address, Exposure: s.Spec.Expose[i]})
	}
	return e
}
