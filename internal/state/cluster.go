// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// A cluster holds cluster-wide state. It is small and changes rarely, so a change copies
// it.
type cluster struct {
	scheduler    *api.SchedulerConfig
	id           string     // id of the cluster during the life of its state; "" before BeginCluster
	timelines    []timeline // oldest first
	level        int        // feature level; 0: the first one
	levelVersion string     // that raised the level
}

// SchedulerConfig returns the scheduler's configuration, or the defaults if it was never
// changed. It is never nil.
func (c *content) SchedulerConfig() *api.SchedulerConfig { return c.cluster.scheduler }
