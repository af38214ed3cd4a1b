// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"

	"github.com/reeve-run/reeve/api"
)

// SetSchedulerConfig stores how the cluster schedules.
type SetSchedulerConfig struct {
	Config *api.SchedulerConfig
	// EnforceIndex, if it is set, is the ModifyIndex that the stored
	// configuration must have; 0 before anybody changed it.
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
		return api.Errorf(api.CodeConflict, "the scheduler's configuration was changed meanwhile: its modify index is %d, not %d; look at the change and try again",
			old.ModifyIndex, *c.EnforceIndex)
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

// PutNodePool stores a node pool, new or changed.
type PutNodePool struct {
	Pool *api.NodePool
}

// Name implements Command.
func (c *PutNodePool) Name() string { return "PutNodePool" }

func (c *PutNodePool) apply(t *txn) error {
	switch {
	case c.Pool == nil || c.Pool.Name == "":
		return api.Errorf(api.CodeInvalid, "a node pool needs a name")
	case c.Pool.IsBuiltIn():
		return api.Errorf(api.CodeInvalid, "node pool %q is built in and cannot be changed: make one of another name", c.Pool.Name)
	}
	pool := *c.Pool
	pool.CreateIndex, pool.ModifyIndex = t.index, t.index
	if old := t.NodePool(pool.Name); old != nil {
		pool.CreateIndex = old.CreateIndex
	}
	t.putNodePool(&pool)
	return nil
}

// DeleteNodePool forgets a pool in which there is nothing.
type DeleteNodePool struct {
	Pool string
}

// Name implements Command.
func (c *DeleteNodePool) Name() string { return "DeleteNodePool" }

func (c *DeleteNodePool) apply(t *txn) error {
	pool := t.NodePool(c.Pool)
	switch {
	case pool == nil:
		return api.Errorf(api.CodeNotFound, "node pool %q not found", c.Pool)
	case pool.IsBuiltIn():
		return api.Errorf(api.CodeInvalid, "node pool %q is built in and cannot be deleted", c.Pool)
	}
	var nodes, jobs []string
	for n := range t.Nodes() {
		if n.NodePool == c.Pool {
			nodes = append(nodes, api.ShortID(n.ID))
		}
	}
	for j := range t.Jobs() {
		if j.NodePool == c.Pool && j.Status != api.JobStatusDead {
			jobs = append(jobs, j.ID)
		}
	}
	if len(nodes) > 0 {
		return api.Errorf(api.CodeConflict, "node pool %q has %s: move them to another pool first", c.Pool, some(nodes, "node"))
	}
	if len(jobs) > 0 {
		return api.Errorf(api.CodeConflict, "node pool %q has %s: stop them, or move them to another pool first", c.Pool, some(jobs, "job"))
	}
	t.deleteNodePool(c.Pool)
	return nil
}

// some names the first few of many things.
func some(names []string, noun string) string {
	const few = 5
	text := noun + " "
	if len(names) > 1 {
		text = noun + "s "
	}
	text += strings.Join(names[:min(few, len(names))], ", ")
	if len(names) > few {
		text += " and others"
	}
	return text
}
