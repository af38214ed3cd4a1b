// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// A Reader is what plans are derived from; a state.Snapshot is one.
type Reader interface {
	Domains
	AllocationsByJob(namespace, id string) iter.Seq[*api.Allocation]
	LatestDeployment(namespace, id string) *api.Deployment
	JobVersions(namespace, id string) []*api.Job // those that are kept, newest first
	LatestRestart(namespace, id string) *api.JobRestart
	DeclinedTemplates(namespace, id string) *api.JobRestart
	// Decisions are those on the job and its instances, oldest first.
	Decisions(namespace, id string) []*api.Decision
	// BlockedEvaluation is the one that waits for room for the job; nil if none does.
	BlockedEvaluation(namespace, id string) *api.Evaluation
	Evaluation(id string) *api.Evaluation
	Node(id string) *api.Node
	SchedulerConfig() *api.SchedulerConfig
	Nodes() iter.Seq[*api.Node] // ordered by id
}
