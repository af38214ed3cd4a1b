// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// Decisions returns what operators decided on the job, oldest first.
func (s *Snapshot) Decisions(namespace, id string) []*api.Decision { return nil }

// LatestRestart returns the job's newest restart.
func (s *Snapshot) LatestRestart(namespace, id string) *api.JobRestart { return nil }

// BlockedEvaluation returns the evaluation that waits for room for the job.
func (s *Snapshot) BlockedEvaluation(namespace, id string) *api.Evaluation {
	for e := range s.EvaluationsByJob(namespace, id) {
		if e.Status == api.EvalStatusBlocked {
			return e
		}
	}
	return nil
}
