// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"context"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Core is the part of a server that the dialect needs.
type Core interface {
	Store() *state.Store

	// ListStacks returns the stacks of all namespaces with every status, newest version first.
	ListStacks() []*api.StackStatus
	// Graph returns what uses the stacks of all namespaces.
	Graph() *api.StackGraph

	DeployStacks(ctx context.Context, req *api.DeployStacksRequest, namespace string) (*api.DeployStacksResponse, error)
	RegisterStack(ctx context.Context, req *api.RegisterStackRequest, namespace string) (*api.RegisterStackResponse, error)
	RedeployStack(ctx context.Context, namespace, name string, req *api.StackVerbRequest) (*api.StackResponse, error)
	StackVerb(ctx context.Context, namespace, name, verb string, req *api.StackVerbRequest) (*api.StackResponse, error)
	UnitVerb(ctx context.Context, namespace, name, verb string, req *api.UnitVerbRequest) (*api.UnitResponse, error)
	ShiftVerb(ctx context.Context, namespace, name, verb string, req *api.ShiftVerbRequest) (*api.ShiftResponse, error)
	PutNamespace(ctx context.Context, n *api.Namespace, enforce *uint64) (uint64, error)
}
