// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"fmt"

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

func (c *PutNodePool) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_PutNodePool{PutNodePool: &wire.PutNodePool{PoolJson: document(c.Pool)}}}
}

func decodePutNodePool(w *wire.PutNodePool) (_ *PutNodePool, err error) {
	c := &PutNodePool{}
	c.Pool, err = parse[api.NodePool](w.PoolJson)
	return c, err
}

func (c *DeleteNodePool) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_DeleteNodePool{DeleteNodePool: &wire.DeleteNodePool{Name: c.Pool}}}
}

func (l *loader) loadSchedulerConfig(payload []byte) error {
	config := new(api.SchedulerConfig)
	if err := json.Unmarshal(payload, config); err != nil {
		return err
	}
	l.cluster.scheduler = config
	return nil
}

func (l *loader) loadNodePool(p *api.NodePool) error {
	if p.Name == "" || l.NodePool(p.Name) != nil {
		return fmt.Errorf("node pool %q is there twice or has no name", p.Name)
	}
	l.cluster.put(p)
	return nil
}
