// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// JobStatusesRequest requests overviews of the named jobs, or of all jobs.
type JobStatusesRequest struct {
	Jobs            []NamespacedID
	IncludeChildren bool // include children of other jobs
}

// A JobOverview is a job with its allocations and its latest deployment, as needed for an
// overview of many jobs.
type JobOverview struct {
	ID               string
	Namespace        string
	Name             string
	ParentID         string
	Type             string
	NodePool         string
	Datacenters      []string
	Priority         int
	Version          uint64
	SubmitTime       int64 // Unix nanoseconds
	ModifyIndex      uint64
	Stop             bool
	Status           string
	Allocs           []*AllocOverview
	GroupCountSum    int      // sum of the groups' counts
	Routable         int      // number of instances that may receive traffic
	ChildStatuses    []string // statuses of its children; null if it is not a parent
	LatestDeployment *DeploymentOverview
}

// An AllocOverview is one of the job's allocations.
type AllocOverview struct {
	ID               string
	Group            string
	NodeID           string
	ClientStatus     string
	DeploymentStatus AllocHealthOverview
	JobVersion       uint64
	FollowupEvalID   string
	HasPausedTask    bool
}

// AllocHealthOverview is an allocation's part in its deployment.
type AllocHealthOverview struct {
	Canary  bool
	Healthy *bool
}

// DeploymentOverview is the job's latest deployment.
type DeploymentOverview struct {
	ID                string
	IsActive          bool
	JobVersion        uint64
	Status            string
	StatusReason      Reason `json:",omitempty"`
	StatusDescription string
	AllAutoPromote    bool
	RequiresPromotion bool
}
