// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// JobStatusesRequest asks for overviews of jobs: of those named, or of all.
type JobStatusesRequest struct {
	Jobs            []NamespacedID
	IncludeChildren bool // also jobs that other jobs started
}

// JobOverview is a job with its allocations and its latest deployment, as far as
// an overview of many jobs needs them.
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
	GroupCountSum    int      // instances wanted, by the groups' counts
	ChildStatuses    []string // of the jobs that it started; null if it starts none
	LatestDeployment *DeploymentOverview
}

// AllocOverview is one of its allocations.
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

// DeploymentOverview is its latest deployment.
type DeploymentOverview struct {
	ID                string
	IsActive          bool
	JobVersion        uint64
	Status            string
	StatusDescription string
	AllAutoPromote    bool
	RequiresPromotion bool
}
