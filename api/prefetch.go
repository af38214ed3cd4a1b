// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A Prefetch asks a node to pull the images of a group of a job's new version, because the version's rollout will
// probably reach the node.
type Prefetch struct {
	Namespace      string
	JobID          string
	JobVersion     uint64
	JobCreateIndex uint64
	Group          string
	Pins           []*PrefetchPin `json:",omitempty"` // images with a tag whose digest the version's first instances found
}

// A PrefetchPin is the digest that a version of a job runs of an image.
type PrefetchPin struct {
	Task   string
	Image  string // as the task's config names it
	Digest string // such as sha256:0123...
}

// Statuses of a prefetch on a node.
const (
	PrefetchWaiting = "waiting" // for others, for its next attempt, or for room on the disk
	PrefetchPulling = "pulling"
	PrefetchDone    = "done"    // the image is in the store
	PrefetchSkipped = "skipped" // the node cannot pull it ahead
)

// A NodePrefetch is an image that a node pulls before the rollout of a job's new version needs it there.
type NodePrefetch struct {
	Namespace  string
	JobID      string
	JobVersion uint64
	Group      string
	Task       string
	Image      string // as the task's config names it
	Status     string // one of the Prefetch constants
	Message    string `json:",omitempty"` // why it waits or is skipped
}
