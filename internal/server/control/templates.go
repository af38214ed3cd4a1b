// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/state"
)

// renderings starts rolling restarts of groups whose instances have newer renderings of their templates.
type renderings struct{}

// NewRenderings returns the controller of templates with change_mode = "rolling". Its keys are jobs.
func NewRenderings() Controller { return renderings{} }

func (renderings) Name() string { return "renderings" }

func (renderings) All(snap *state.Snapshot) (keys []string) {
	for a := range snap.Allocations() {
		if a.HasPendingTemplates() {
			keys = append(keys, jobKey(a.JobKey()))
		}
	}
	return keys
}

func (renderings) Touched(c *state.Change, add func(string)) {
	switch object := c.New.(type) {
	case *api.Allocation:
		if object != nil && object.HasPendingTemplates() {
			add(jobKey(object.JobKey()))
		}
	case *api.Deployment: // its job may have waited for its end
		if object != nil && !object.IsActive() {
			add(jobKey(object.JobKey()))
		}
	case *api.JobRestart:
		if object != nil && !object.IsActive() {
			add(jobKey(object.JobKey()))
		}
	}
}

func (renderings) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	id := parseJobKey(key)
	job := snap.Job(id.Namespace, id.ID)
	r, wake := operator.NewTemplateRestart(snap, job, now)
	if r == nil {
		return nil, wake
	}
	return []state.Command{&state.PutRestart{Restart: r, Evaluation: newEvaluation(job, api.TriggerRestart, now)}}, time.Time{}
}
