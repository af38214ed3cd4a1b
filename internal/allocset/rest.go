// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocset

import "github.com/reeve-run/reeve/api"

// What is rarely set travels as one document, in which the
// fields that are not set are left out.

type restAllocation struct {
	Resources             *api.Resources            `json:",omitempty"`
	TaskResources         map[string]*api.Resources `json:",omitempty"`
	DesiredTransition     *api.DesiredTransition    `json:",omitempty"`
	RescheduleTracker     *api.RescheduleTracker    `json:",omitempty"`
	NetworkStatus         *api.AllocNetworkStatus   `json:",omitempty"`
	PreemptedAllocations  []string                  `json:",omitempty"`
	PreemptedByAllocation string                    `json:",omitempty"`
	Recovery              string                    `json:",omitempty"`
	Volumes               []api.AllocatedVolume     `json:",omitempty"`
}

func restOfAllocation(a *api.Allocation) []byte {
	r := restAllocation{
		Resources: a.Resources, TaskResources: a.TaskResources,
		RescheduleTracker: a.RescheduleTracker, NetworkStatus: a.NetworkStatus,
		PreemptedAllocations: a.PreemptedAllocations, PreemptedByAllocation: a.PreemptedByAllocation,
		Recovery: a.Recovery,
	}
	if held := a.AllocatedResources; held != nil {
		r.Volumes = held.Shared.Volumes
	}
	if a.DesiredTransition != (api.DesiredTransition{}) {
		r.DesiredTransition = &a.DesiredTransition
	}
	if r.Resources == nil && len(r.TaskResources)+len(r.PreemptedAllocations)+len(r.Volumes) == 0 && r.DesiredTransition == nil &&
		r.RescheduleTracker == nil && r.NetworkStatus == nil && r.PreemptedByAllocation == "" && r.Recovery == "" {
		return nil
	}
	return mustJSON(r)
}

func (r *restAllocation) fill(a *api.Allocation) {
	a.Resources, a.TaskResources = r.Resources, r.TaskResources
	a.RescheduleTracker, a.NetworkStatus = r.RescheduleTracker, r.NetworkStatus
	a.PreemptedAllocations, a.PreemptedByAllocation = r.PreemptedAllocations, r.PreemptedByAllocation
	a.Recovery = r.Recovery
	if held := a.AllocatedResources; held != nil { // its own, as decoded
		held.Shared.Volumes = r.Volumes
	}
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
