// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// SetSchedulerConfig stores the scheduler's configuration.
type SetSchedulerConfig struct {
	Config *api.SchedulerConfig
	// EnforceIndex, if set, is the ModifyIndex that the stored configuration must have; 0
	// for the initial configuration.
	EnforceIndex *uint64
}

// Name implements Command.
func (c *SetSchedulerConfig) Name() string { return "SetSchedulerConfig" }

func (c *SetSchedulerConfig) apply(t *txn) error {
	if c.Config == nil {
		return api.Errorf(api.CodeInvalid, "the scheduler's configuration is missing")
	}
	old := t.SchedulerConfig()
	if c.EnforceIndex != nil && *c.EnforceIndex != old.ModifyIndex {
		return SchedulerConfigChanged(old, *c.EnforceIndex)
	}
	config := *c.Config
	config.CreateIndex, config.ModifyIndex = old.CreateIndex, t.index
	if old.ModifyIndex == 0 {
		config.CreateIndex = t.index
	}
	t.cluster.scheduler = &config
	t.emit(TableSchedulerConfig, Put, old, &config)
	return nil
}

// SchedulerConfigChanged rejects a change that is based on an older configuration.
func SchedulerConfigChanged(stored *api.SchedulerConfig, enforced uint64) error {
	return api.Errorf(api.CodeConflict, "the scheduler's configuration was changed meanwhile: its modify index is %d, not %d; check the change and try again",
		stored.ModifyIndex, enforced)
}
