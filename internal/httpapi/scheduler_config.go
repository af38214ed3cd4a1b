// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func getSchedulerConfig(c *call, v *state.Snapshot) (*api.SchedulerConfigResponse, uint64, error) {
	config := v.SchedulerConfig()
	index := max(config.ModifyIndex, 1)
	return &api.SchedulerConfigResponse{SchedulerConfig: config, Index: index}, index, nil
}

// setSchedulerConfig answers with Updated: false instead of an error if the index of cas
// is not that of the stored configuration, as clients expect.
func setSchedulerConfig(c *call, req *api.SetSchedulerConfigRequest) (*api.SetSchedulerConfigResponse, uint64, error) {
	enforce, err := c.cas()
	if err != nil {
		return nil, 0, err
	}
	index, err := c.Server.SetSchedulerConfig(c.r.Context(), req, enforce)
	if enforce != nil && api.CodeOf(err) == api.CodeConflict {
		index = c.Server.Store().Snapshot().SchedulerConfig().ModifyIndex
		return &api.SetSchedulerConfigResponse{Index: index}, index, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return &api.SetSchedulerConfigResponse{Updated: true, Index: index}, index, nil
}
