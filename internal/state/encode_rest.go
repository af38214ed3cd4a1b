// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// Fields that are rarely set travel as one document, in which those that are
// not set are left out.

type restAllocation struct {
	Resources             *api.Resources            `json:",omitempty"`
	TaskResources         map[string]*api.Resources `json:",omitempty"`
	DesiredTransition     *api.DesiredTransition    `json:",omitempty"`
	RescheduleTracker     *api.RescheduleTracker    `json:",omitempty"`
	NetworkStatus         *api.AllocNetworkStatus   `json:",omitempty"`
	PreemptedAllocations  []string                  `json:",omitempty"`
	PreemptedByAllocation string                    `json:",omitempty"`
}

func restOfAllocation(a *api.Allocation) []byte {
	r := restAllocation{
		Resources: a.Resources, TaskResources: a.TaskResources,
		RescheduleTracker: a.RescheduleTracker, NetworkStatus: a.NetworkStatus,
		PreemptedAllocations: a.PreemptedAllocations, PreemptedByAllocation: a.PreemptedByAllocation,
	}
	if a.DesiredTransition != (api.DesiredTransition{}) {
		r.DesiredTransition = &a.DesiredTransition
	}
	if r.Resources == nil && len(r.TaskResources)+len(r.PreemptedAllocations) == 0 && r.DesiredTransition == nil &&
		r.RescheduleTracker == nil && r.NetworkStatus == nil && r.PreemptedByAllocation == "" {
		return nil
	}
	return mustJSON(r)
}

func (r *restAllocation) fill(a *api.Allocation) {
	a.Resources, a.TaskResources = r.Resources, r.TaskResources
	a.RescheduleTracker, a.NetworkStatus = r.RescheduleTracker, r.NetworkStatus
	a.PreemptedAllocations, a.PreemptedByAllocation = r.PreemptedAllocations, r.PreemptedByAllocation
	if r.DesiredTransition != nil {
		a.DesiredTransition = *r.DesiredTransition
	}
}

type restEvent struct {
	SetupError       string `json:",omitempty"`
	DownloadError    string `json:",omitempty"`
	ValidationError  string `json:",omitempty"`
	DiskLimit        int64  `json:",omitempty"`
	FailedSibling    string `json:",omitempty"`
	VaultError       string `json:",omitempty"`
	TaskSignalReason string `json:",omitempty"`
	TaskSignal       string `json:",omitempty"`
	GenericSource    string `json:",omitempty"`
}

func restOfEvent(v *api.TaskEvent) []byte {
	r := restEvent{
		v.SetupError, v.DownloadError, v.ValidationError, v.DiskLimit, v.FailedSibling,
		v.VaultError, v.TaskSignalReason, v.TaskSignal, v.GenericSource,
	}
	if r == (restEvent{}) {
		return nil
	}
	return mustJSON(r)
}

func (r *restEvent) fill(v *api.TaskEvent) {
	v.SetupError, v.DownloadError, v.ValidationError = r.SetupError, r.DownloadError, r.ValidationError
	v.DiskLimit, v.FailedSibling, v.VaultError = r.DiskLimit, r.FailedSibling, r.VaultError
	v.TaskSignalReason, v.TaskSignal, v.GenericSource = r.TaskSignalReason, r.TaskSignal, r.GenericSource
}

type restEvaluation struct {
	RelatedEvals         []*api.EvaluationStub            `json:",omitempty"`
	FailedGroups         map[string]*api.PlacementMetrics `json:",omitempty"`
	Annotations          *api.PlanAnnotations             `json:",omitempty"`
	ClassEligibility     map[string]bool                  `json:",omitempty"`
	EscapedComputedClass bool                             `json:",omitempty"`
	QuotaLimitReached    string                           `json:",omitempty"`
	AnnotatePlan         bool                             `json:",omitempty"`
}

func restOfEvaluation(e *api.Evaluation) []byte {
	r := restEvaluation{
		e.RelatedEvals, e.FailedGroups, e.Annotations, e.ClassEligibility,
		e.EscapedComputedClass, e.QuotaLimitReached, e.AnnotatePlan,
	}
	if len(r.RelatedEvals)+len(r.FailedGroups)+len(r.ClassEligibility) == 0 && r.Annotations == nil &&
		!r.EscapedComputedClass && r.QuotaLimitReached == "" && !r.AnnotatePlan {
		return nil
	}
	return mustJSON(r)
}

func (r *restEvaluation) fill(e *api.Evaluation) {
	e.RelatedEvals, e.FailedGroups, e.Annotations = r.RelatedEvals, r.FailedGroups, r.Annotations
	e.ClassEligibility, e.EscapedComputedClass = r.ClassEligibility, r.EscapedComputedClass
	e.QuotaLimitReached, e.AnnotatePlan = r.QuotaLimitReached, r.AnnotatePlan
}
