// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

func (c *SetSchedulerConfig) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_SetSchedulerConfig{SetSchedulerConfig: &wire.SetSchedulerConfig{
		ConfigJson: document(c.Config), EnforceIndex: c.EnforceIndex,
	}}}
}

func decodeSetSchedulerConfig(w *wire.SetSchedulerConfig) (_ *SetSchedulerConfig, err error) {
	c := &SetSchedulerConfig{EnforceIndex: w.EnforceIndex}
	c.Config, err = parse[api.SchedulerConfig](w.ConfigJson)
	return c, err
}

func (l *loader) loadSchedulerConfig(payload []byte) error {
	config := new(api.SchedulerConfig)
	if err := json.Unmarshal(payload, config); err != nil {
		return err
	}
	l.cluster.scheduler = config
	return nil
}
