// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func pinImage(c *call, r *api.ImagePinRequest) (*api.ImagePinResponse, uint64, error) {
	pin, err := c.Server.PinImage(c.r.Context(), c.id(), r)
	return pin, 0, err
}

func getJobImages(c *call, v *state.Snapshot) ([]*api.ImagePin, uint64, error) {
	index := v.TableIndex(c.route.Tables...)
	if v.Job(c.namespace, c.id()) == nil {
		return nil, index, v.JobNotFound(c.namespace, c.id())
	}
	pins := v.ImagePinsOf(c.namespace, c.id())
	if pins == nil {
		pins = []*api.ImagePin{}
	}
	return pins, index, nil
}

func imageUses(c *call, r *api.ImageUsesRequest) (*api.ImageUsesResponse, uint64, error) {
	answer, err := c.Server.ImageUses(c.id(), r)
	return answer, 0, err
}
