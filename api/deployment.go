// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Deployment statuses.
const (
	DeploymentPending    = "pending"
	DeploymentRunning    = "running"
	DeploymentPaused     = "paused"
	DeploymentBlocked    = "blocked"
	DeploymentSuccessful = "successful"
	DeploymentFailed     = "failed"
	DeploymentCancelled  = "cancelled"
)

// A Deployment records the rollout of one job version: its progress, the decisions about
// it and its outcome.
type Deployment struct {
	ID                 string
	Namespace          string
	JobID              string
	JobVersion         uint64
	JobModifyIndex     uint64
	JobSpecModifyIndex uint64
	JobCreateIndex     uint64
	IsMultiregion      bool
	Groups             map[string]*DeploymentState `json:"TaskGroups"`
	Status             string                      // one of the Deployment constants
	StatusReason       Reason                      `json:",omitempty"` // code of StatusDescription
	StatusDescription  string
	EvalPriority       int `json:",omitempty"` // priority of the evaluation that started it
	// Troubles are the problems that blocked a failed deployment at the time of its
	// failure: at most the TroublesKept most important ones.
	Troubles    []*Trouble `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64
	CreateTime  int64 // Unix nanoseconds
	ModifyTime  int64
}

// TroublesKept is the maximum number of troubles kept with a failed deployment.
const TroublesKept = 10

// DeploymentState is one group's progress in a deployment.
type DeploymentState struct {
	PlacedCanaries    []string
	AutoRevert        bool
	AutoPromote       bool
	ProgressDeadline  time.Duration
	RequireProgressBy time.Time
	Promoted          bool
	DesiredCanaries   int
	DesiredTotal      int
	PlacedAllocs      int
	HealthyAllocs     int
	UnhealthyAllocs   int
}

// JobKey returns the key of the deployment's job.
func (d *Deployment) JobKey() NamespacedID { return NamespacedID{d.Namespace, d.JobID} }

// IsActive reports whether the deployment has not ended.
func (d *Deployment) IsActive() bool {
	switch d.Status {
	case DeploymentPending, DeploymentRunning, DeploymentPaused, DeploymentBlocked:
		return true
	}
	return false
}

// NeedsPromotion reports whether canaries wait for promotion.
func (d *Deployment) NeedsPromotion() bool {
	for _, g := range d.Groups {
		if g.DesiredCanaries > 0 && !g.Promoted {
			return true
		}
	}
	return false
}

// Copy returns a copy whose fields and groups may be set.
func (d *Deployment) Copy() *Deployment {
	c := *d
	c.Groups = make(map[string]*DeploymentState, len(d.Groups))
	for name, g := range d.Groups {
		state := *g
		c.Groups[name] = &state
	}
	return &c
}
