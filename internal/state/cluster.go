// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// cluster is what is said of the cluster as a whole. It changes rarely and is
// small, so a change copies what it changes.
type cluster struct {
	scheduler *api.SchedulerConfig
	id        string     // of the cluster, for as long as its state lives; "" before it began
	timelines []timeline // oldest first
}

// SchedulerConfig returns how the cluster schedules: the defaults until
// somebody changed them. It is never nil.
func (c *content) SchedulerConfig() *api.SchedulerConfig { return c.cluster.scheduler }
