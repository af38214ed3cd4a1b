// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Core is the part of a server that the dialect needs.
type Core interface {
	Store() *state.Store

	JobPlans(ctx context.Context, namespace, id string) ([]*api.Plan, uint64, error) // without phases
	JobPlan(ctx context.Context, namespace, id, plan string) (*api.Plan, uint64, error)
	PlanVerb(ctx context.Context, namespace, id, plan string, verb api.Verb, req *api.PlanRequest) (*api.PlanResponse, error)
	Instances(ctx context.Context, namespace, id string) ([]*api.Instance, uint64, error)
	InstanceVerb(ctx context.Context, namespace, id, name string, verb api.Verb, req *api.InstanceRequest) (*api.InstanceResponse, error)
}
