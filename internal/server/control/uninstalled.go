// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// UninstalledKept is how long the plan uninstall of a purged job can be read
// after the job's end.
const UninstalledKept = 10 * time.Minute

// uninstalled forgets what is remembered of purged jobs.
type uninstalled struct{}

// NewUninstalled returns the controller of the jobs that were purged a short
// while ago. Its keys are jobs.
func NewUninstalled() Controller { return uninstalled{} }

func (uninstalled) Name() string { return "uninstalled" }

func (uninstalled) All(snap *state.Snapshot) (keys []string) {
	for u := range snap.UninstalledJobs("*") {
		keys = append(keys, jobKey(u.Key()))
	}
	return keys
}

func (uninstalled) Touched(c *state.Change, add func(string)) {
	if u, ok := c.New.(*api.Uninstalled); ok {
		add(jobKey(u.Key()))
	}
}

func (uninstalled) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	id := parseJobKey(key)
	u := snap.Uninstalled(id.Namespace, id.ID)
	if u == nil {
		return nil, time.Time{}
	}
	if end := time.Unix(0, u.EndedAt).Add(UninstalledKept); now.Before(end) {
		return nil, end
	}
	return []state.Command{state.ForgetUninstalled(u)}, time.Time{}
}
