// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

func getJobTroubles(c *call, v *state.Snapshot) ([]*api.Trouble, uint64, error) {
	index := v.TableIndex(c.route.Tables...)
	of := server.TroubleFilter{Instance: c.query.Get("instance")}
	if c.query.Has("version") {
		version, err := c.number("version")
		if err != nil {
			return nil, index, err
		}
		of.Version = &version
	}
	all, at, err := c.Server.Troubles(c.r.Context(), c.namespace, c.id(), of)
	if err != nil {
		return nil, index, err
	}
	if all == nil {
		all = []*api.Trouble{}
	}
	return all, at, nil
}
