// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

func listUnits(c *call, v *state.Snapshot) ([]*api.UnitStatus, uint64, error) {
	units, index := server.Units(v, c.namespace)
	return units, index, nil
}

func getUnit(c *call, v *state.Snapshot) (*api.UnitStatus, uint64, error) {
	return server.Unit(v, c.namespace, c.id())
}

// unitVerb returns the function of a verb's route.
func unitVerb(verb string) func(*call, *api.UnitVerbRequest) (*api.UnitResponse, uint64, error) {
	return func(c *call, req *api.UnitVerbRequest) (*api.UnitResponse, uint64, error) {
		if err := c.fillIn(map[string]*string{"by": &req.By, "reason": &req.Reason}); err != nil {
			return nil, 0, err
		}
		res, err := c.Server.UnitVerb(c.r.Context(), c.namespace, c.id(), verb, req)
		if err != nil {
			return nil, 0, err
		}
		return res, res.Index, nil
	}
}

func startShift(c *call, req *api.ShiftRequest) (*api.ShiftResponse, uint64, error) {
	if err := c.fillIn(map[string]*string{"by": &req.By}); err != nil {
		return nil, 0, err
	}
	res, err := c.Server.StartShift(c.r.Context(), c.namespace, c.id(), req)
	if err != nil {
		return nil, 0, err
	}
	return res, res.Index, nil
}

func listShifts(c *call, v *state.Snapshot) ([]*api.Shift, uint64, error) {
	shifts, index := server.Shifts(v, c.namespace)
	for i := range shifts {
		shifts[i] = c.Server.WithTraffic(shifts[i])
	}
	return shifts, index, nil
}

func getShift(c *call, v *state.Snapshot) (*api.Shift, uint64, error) {
	shift, index, err := server.Shift(v, c.namespace, c.id())
	return c.Server.WithTraffic(shift), index, err
}

func shiftVerb(c *call, req *api.ShiftVerbRequest) (*api.ShiftResponse, uint64, error) {
	if err := c.fillIn(map[string]*string{"by": &req.By, "reason": &req.Reason}); err != nil {
		return nil, 0, err
	}
	res, err := c.Server.ShiftVerb(c.r.Context(), c.namespace, c.id(), c.r.PathValue("verb"), req)
	if err != nil {
		return nil, 0, err
	}
	return res, res.Index, nil
}
