// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// maxBeginnings bounds the number of kept beginnings.
const maxBeginnings = 256

// Beginnings holds the groups of deployments that have placed nothing yet. Ten thousand jobs that
// wait for room have as many deployments, and all but a few of their groups are equal: the smallest
// map and its state take 370 bytes.
type beginnings struct {
	known map[beginning]map[string]*api.DeploymentState
}

// A beginning identifies the content of a map with one group. All other fields of its state are
// zero.
type beginning struct {
	group                   string
	autoRevert, autoPromote bool
	progressDeadline        time.Duration
	canaries, total         int
}

// share returns a map that is equal to groups, and part of other deployments, too. Stored
// deployments are replaced, never modified.
func (b *beginnings) share(groups map[string]*api.DeploymentState) map[string]*api.DeploymentState {
	if len(groups) != 1 {
		return groups
	}
	for name, g := range groups {
		if g == nil {
			break
		}
		key := beginning{name, g.AutoRevert, g.AutoPromote, g.ProgressDeadline, g.DesiredCanaries, g.DesiredTotal}
		if g.PlacedCanaries != nil || g.RequireProgressBy != (time.Time{}) || g.Promoted || g.PlacedAllocs != 0 || g.HealthyAllocs != 0 || g.UnhealthyAllocs != 0 {
			break
		}
		if known := b.known[key]; known != nil {
			return known
		}
		if b.known == nil || len(b.known) >= maxBeginnings {
			b.known = map[beginning]map[string]*api.DeploymentState{}
		}
		b.known[key] = groups
	}
	return groups
}
