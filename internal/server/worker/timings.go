// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
)

// JobTypes are the types of jobs whose evaluations Timings distinguishes.
var JobTypes = [...]string{api.JobTypeService, api.JobTypeBatch, api.JobTypeSystem, api.JobTypeSysBatch}

// Timings measures the steps of evaluations. A nil Timings measures nothing.
type Timings struct {
	Wait     latency.Histogram                // for the state index of the evaluation
	Submit   latency.Histogram                // until the applier has committed or refused
	Schedule [len(JobTypes)]latency.Histogram // to compute and place the difference, by type
}

func (t *Timings) waited(d time.Duration) {
	if t != nil {
		t.Wait.Observe(d)
	}
}

func (t *Timings) submitted(d time.Duration) {
	if t != nil {
		t.Submit.Observe(d)
	}
}

func (t *Timings) scheduled(jobType string, d time.Duration) {
	if t == nil {
		return
	}
	for i, name := range JobTypes {
		if name == jobType {
			t.Schedule[i].Observe(d)
		}
	}
}
