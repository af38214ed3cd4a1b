// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

const volumeID = "99999999-0000-4000-8000-000000000037"

func goldenHostVolume() *api.HostVolume {
	return &api.HostVolume{
		Namespace: "default", ID: volumeID, Name: "data", PluginID: api.PluginMkdir, NodePool: "default", NodeID: "5f3e",
		Constraints:               []*api.Constraint{{LTarget: "${meta.rack}", RTarget: "r1", Operand: "="}},
		RequestedCapacityMinBytes: 1 << 20, RequestedCapacityMaxBytes: 1 << 30,
		RequestedCapabilities: []*api.HostVolumeCapability{{AttachmentMode: api.AttachmentFileSystem, AccessMode: api.AccessSingleNodeWriter}},
		Parameters:            map[string]string{"mode": "0755"}, State: api.HostVolumePending, Generation: 1,
		CreateTime: 1_790_000_000_000_000_000, ModifyTime: 1_790_000_000_000_000_000,
	}
}

func goldenVolumeReport() *ReportVolumes {
	return &ReportVolumes{NodeID: "5f3e", Time: 1_790_000_000_000_000_000, Reports: []*api.HostVolumeReport{
		{ID: volumeID, Generation: 1, HostPath: "/v/" + volumeID, CapacityBytes: 1 << 20},
		{ID: "98888888-0000-4000-8000-000000000037", Generation: 2, HostPath: "/v/offered", Offered: &api.HostVolume{Namespace: "default", Name: "offered"}},
		{ID: "97777777-0000-4000-8000-000000000037", Generation: 1, Error: "no space", Deleted: true},
	}}
}

// stickyAllocation uses the volume, and keeps it.
func stickyAllocation(id string) *api.Allocation {
	return &api.Allocation{
		ID: id, Namespace: "default", JobID: "web", Name: "web.web[0]", Group: "web", NodeID: "5f3e",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
		AllocatedResources: &api.AllocatedResources{Shared: api.AllocatedShared{Volumes: []api.AllocatedVolume{
			{Request: "data", Name: "data", ID: volumeID, Sticky: true, Exclusive: true},
		}}},
	}
}

// volumeStore holds what the format learned to hold with host volumes.
func volumeStore(t testing.TB) *Store {
	s := New()
	job := testJob("web")
	for i, c := range []Command{
		&RegisterNode{Node: &api.Node{ID: "5f3e", Name: "one", NodePool: "default"}},
		&RegisterJob{Job: job},
		PutHostVolume(goldenHostVolume(), 0),
		goldenVolumeReport(),
	} {
		must(t, s.Apply(uint64(5+i), []Command{c}))
	}
	stored := s.Snapshot().Job("default", "web")
	must(t, s.Apply(9, []Command{&CommitPlacement{Placement: &Placement{Job: stored, Place: []*api.Allocation{stickyAllocation("a1")}}}}))
	return s
}
