// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// PutNamespace stores a namespace, new or changed. If enforce is set, the stored namespace
// must have this modify index; 0: it must not exist.
func (s *Server) PutNamespace(ctx context.Context, n *api.Namespace, enforce *uint64) (uint64, error) {
	if err := n.Validate(); err != nil {
		return 0, err
	}
	return s.propose(ctx, state.PutNamespace(n, enforce))
}

// DeleteNamespace deletes a namespace without jobs and children.
func (s *Server) DeleteNamespace(ctx context.Context, name string, enforce *uint64) (uint64, error) {
	return s.propose(ctx, state.DeleteNamespace(name, enforce))
}
