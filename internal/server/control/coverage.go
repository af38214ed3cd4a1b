// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// coverage has jobs that run on every node evaluated when nodes change: a new
// node has to get its instance.
type coverage struct {
	mu   sync.Mutex
	jobs map[string]bool // those that run on every node
}

// NewCoverage returns the controller that spreads system jobs to new nodes.
// Its keys are jobs.
func NewCoverage() Controller { return &coverage{jobs: map[string]bool{}} }

func (*coverage) Name() string { return "coverage" }

func (c *coverage) All(snap *state.Snapshot) (keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.jobs)
	for job := range snap.Jobs() {
		if job.RunsOnEveryNode() && !job.Stop {
			key := jobKey(job.Key())
			c.jobs[key] = true
			keys = append(keys, key)
		}
	}
	return keys
}

func (c *coverage) Touched(change *state.Change, add func(string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch change.Table {
	case state.TableJobs:
		old, _ := change.Old.(*api.Job)
		job, _ := change.New.(*api.Job)
		if job != nil && job.RunsOnEveryNode() && !job.Stop {
			c.jobs[jobKey(job.Key())] = true
		} else if old != nil {
			delete(c.jobs, jobKey(old.Key()))
		}
	case state.TableNodes:
		for key := range c.jobs {
			add(key)
		}
	case state.TableEvaluations:
		// An evaluation that was under way may have missed a node.
		if e, _ := change.New.(*api.Evaluation); e != nil && e.IsTerminal() && c.jobs[jobKey(e.JobKey())] {
			add(jobKey(e.JobKey()))
		}
	}
}

func (*coverage) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	id := parseJobKey(key)
	job := snap.Job(id.Namespace, id.ID)
	if job == nil || job.Stop || !job.RunsOnEveryNode() || job.IsPeriodic() || job.IsParameterized() {
		return nil, time.Time{}
	}
	if evaluatedSince(snap, id, snap.TableIndex(state.TableNodes)) {
		return nil, time.Time{}
	}
	return []state.Command{&state.PutEvaluations{
		Evaluations: []*api.Evaluation{newEvaluation(job, api.TriggerNodeUpdate, now)},
	}}, time.Time{}
}
