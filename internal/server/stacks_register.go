// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// RegisterStack stores a stack that runs outside of Reeve. It has no job, so it warms nothing: the leader
// promotes it as soon as no shift of its unit runs. A version that a live stack
// already has at the same address is a success that names the stack.
func (s *Server) RegisterStack(ctx context.Context, req *api.RegisterStackRequest, namespace string) (*api.RegisterStackResponse, error) {
	if req == nil {
		req = &api.RegisterStackRequest{}
	}
	if err := req.Validate(s.cfg.LoopbackStacks); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		res, err := s.tryRegisterStack(ctx, req, namespace)
		if api.CodeOf(err) != api.CodeConflict || attempt == changeAttempts {
			return res, err
		}
	}
}

func (s *Server) tryRegisterStack(ctx context.Context, req *api.RegisterStackRequest, namespace string) (*api.RegisterStackResponse, error) {
	snap := s.store.Snapshot()
	stack, err := externalStack(snap, req, namespace, s.cfg.LoopbackStacks)
	if err != nil {
		return nil, err
	}
	wanted := lifecycle.Deployable{Namespace: namespace, Unit: stack.Unit, Version: stack.Version, Spec: stack.Spec, HasPort: true}
	if live := liveStack(snap, wanted); live != nil && !req.Redeploy {
		switch {
		case live.Digest == stack.Digest:
			return &api.RegisterStackResponse{Stack: stackStatus(snap, nil, live), Existing: true}, nil
		case live.IsExternal() && live.Address != stack.Address:
			return nil, api.Errorf(api.CodeConflict, "stack %s has version %s already, at %s: change the version, or move its traffic to another address with -redeploy", live.Name, live.Version, live.Address)
		}
		return nil, api.Errorf(api.CodeConflict, "stack %s has version %s already, with other content: change the version, or register it beside that stack with -redeploy", live.Name, live.Version)
	}
	list := []lifecycle.Deployable{wanted}
	x, units := control.DeploymentIndex(snap, list)
	if refusals, _ := x.CheckDeployment(list); len(refusals) > 0 {
		e := refuseDeployment(list, refusals).(*api.Error)
		e.Message = "the registration is refused"
		return nil, e
	}
	if err := snap.CheckExternal(stack); err != nil {
		return nil, err
	}
	index, err := s.propose(ctx, &state.DeployStacks{Index: snap.LifecycleIndex(), Units: units, Stacks: []*api.Stack{stack}, Jobs: []*api.Job{nil}})
	if err != nil {
		return nil, err
	}
	snap = s.store.Snapshot()
	if stored := snap.Stack(namespace, stack.Name); stored != nil {
		stack = stored
	}
	return &api.RegisterStackResponse{Stack: stackStatus(snap, nil, stack), Index: index}, nil
}

// externalStack returns the stack of a valid registration.
func externalStack(snap *state.Snapshot, req *api.RegisterStackRequest, namespace string, loopback bool) (*api.Stack, error) {
	address, err := api.ParseStackAddress(req.Address, loopback)
	if err != nil {
		return nil, err
	}
	version, err := api.ParseStackVersion(req.Stack.Version)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal([]any{address, req.Stack})
	if err != nil {
		return nil, fmt.Errorf("encode the registration of unit %q: %w", req.Unit, err)
	}
	hash, err := stackHash()
	if err != nil {
		return nil, err
	}
	sum, now, spec := sha256.Sum256(text), time.Now(), *req.Stack
	if spec.Expose == nil {
		spec.Expose = exposuresOfUnit(snap, namespace, req.Unit)
	}
	return &api.Stack{
		ID: api.NewID(), Name: api.StackName(req.Unit, version, hash), Namespace: namespace, Unit: req.Unit,
		Version: version, Spec: &spec, Shape: api.ShapeExternal, Digest: hex.EncodeToString(sum[:]), Address: address,
		Status: api.StackWarming, StatusReason: api.ReasonStackRegistered, StatusBy: req.By,
		StatusSince: now, DeployedAt: now, RunningAt: now,
	}, nil
}

// exposuresOfUnit returns the exposures of the live stack of a unit that has the highest version.
func exposuresOfUnit(snap *state.Snapshot, namespace, unit string) []*api.StackExposure {
	var newest *api.Stack
	for s := range snap.StacksOfUnit(namespace, unit) {
		if s.IsLive() && (newest == nil || s.Version.Compare(newest.Version) > 0) {
			newest = s
		}
	}
	if newest == nil || newest.Spec == nil {
		return nil
	}
	return newest.Spec.Expose
}
