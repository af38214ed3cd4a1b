// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

func listStacks(c *call, v *state.Snapshot) ([]*api.StackStatus, uint64, error) {
	f := server.StackFilter{Namespace: c.namespace, Unit: c.query.Get("unit"), Version: c.query.Get("version")}
	if text := c.query.Get("status"); text != "" {
		f.Statuses = strings.Split(text, ",")
	}
	stacks, index := server.Stacks(v, f)
	return stacks, index, nil
}

func getStack(c *call, v *state.Snapshot) (*api.StackStatus, uint64, error) {
	return server.Stack(v, c.namespace, c.id())
}

func getStackGraph(c *call, v *state.Snapshot) (*api.StackGraph, uint64, error) {
	graph, index := server.StackGraph(v, c.namespace)
	return graph, index, nil
}

func getStackVerdicts(c *call, v *state.Snapshot) ([]*api.AuditRecord, uint64, error) {
	stack, _, err := server.Stack(v, c.namespace, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return server.StackAudit(v, stack.Stack), v.TableIndex(c.route.Tables...), nil
}

func deployStacks(c *call, req *api.DeployStacksRequest) (*api.DeployStacksResponse, uint64, error) {
	res, err := c.Server.DeployStacks(c.r.Context(), req, c.namespace)
	if err != nil {
		return nil, 0, err
	}
	return res, res.Index, nil
}

func planStacks(c *call, req *api.DeployStacksRequest) (*api.DeployStacksResponse, uint64, error) {
	res, err := c.Server.PlanStacks(c.r.Context(), req, c.namespace)
	return res, 0, err
}

func registerStack(c *call, req *api.RegisterStackRequest) (*api.RegisterStackResponse, uint64, error) {
	if err := c.fillIn(map[string]*string{"by": &req.By}); err != nil {
		return nil, 0, err
	}
	res, err := c.Server.RegisterStack(c.r.Context(), req, c.namespace)
	if err != nil {
		return nil, 0, err
	}
	return res, res.Index, nil
}

// stackVerb returns the function of a verb's route.
func stackVerb(verb string) func(*call, *api.StackVerbRequest) (*api.StackResponse, uint64, error) {
	return func(c *call, req *api.StackVerbRequest) (*api.StackResponse, uint64, error) {
		return c.changeStack(verb, req)
	}
}

func stopStack(c *call, req *api.StackVerbRequest) (*api.StackResponse, uint64, error) {
	now, err := c.flag("now")
	if err != nil {
		return nil, 0, err
	}
	req.Now = req.Now || now
	return c.changeStack("stop", req)
}

func (c *call) changeStack(verb string, req *api.StackVerbRequest) (*api.StackResponse, uint64, error) {
	if err := c.fillIn(map[string]*string{"by": &req.By, "reason": &req.Reason}); err != nil {
		return nil, 0, err
	}
	res, err := c.Server.StackVerb(c.r.Context(), c.namespace, c.id(), verb, req)
	if err != nil {
		return nil, 0, err
	}
	return res, res.Index, nil
}

func redeployStack(c *call, req *api.StackVerbRequest) (*api.StackResponse, uint64, error) {
	if err := c.fillIn(map[string]*string{"by": &req.By, "reason": &req.Reason}); err != nil {
		return nil, 0, err
	}
	res, err := c.Server.RedeployStack(c.r.Context(), c.namespace, c.id(), req)
	if err != nil {
		return nil, 0, err
	}
	return res, res.Index, nil
}

func sweepStacks(c *call, _ *none) (*api.SweepResponse, uint64, error) {
	dry, err := c.flag("dry_run")
	if err != nil {
		return nil, 0, err
	}
	res, err := c.Server.SweepStacks(c.r.Context(), dry)
	if err != nil {
		return nil, 0, err
	}
	return res, res.Index, nil
}

// listAudit lists audit records, newest first.
func listAudit(c *call, v *state.Snapshot) ([]*api.AuditRecord, uint64, error) {
	stack, unit, shift := c.query.Get("stack"), c.query.Get("unit"), c.query.Get("shift")
	records := []*api.AuditRecord{}
	for r := range v.AllAudit(c.namespace) {
		if (stack == "" || r.Kind == api.AuditStack && r.Object == stack) && (unit == "" || r.Unit == unit) &&
			(shift == "" || r.Kind == api.AuditShift && r.Object == shift) {
			records = append(records, r)
		}
	}
	slices.SortStableFunc(records, func(a, b *api.AuditRecord) int {
		return cmp.Or(cmp.Compare(b.CreateIndex, a.CreateIndex), strings.Compare(b.ID, a.ID))
	})
	return records, v.TableIndex(c.route.Tables...), nil
}
