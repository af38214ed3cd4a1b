// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// volumeTest applies commands one by one.
type volumeTest struct {
	*testing.T
	*Store
}

func newVolumeTest(t *testing.T) *volumeTest { return &volumeTest{t, volumeStore(t)} }

func (v *volumeTest) do(c Command) error { return v.Apply(v.Index()+1, []Command{c})[0] }

func (v *volumeTest) must(c Command) {
	v.Helper()
	if err := v.do(c); err != nil {
		v.Fatal(err)
	}
}

func (v *volumeTest) refused(c Command, want string) {
	v.Helper()
	if err := v.do(c); err == nil || !strings.Contains(err.Error(), want) {
		v.Errorf("%s: %v; want %q", c.Name(), err, want)
	}
}

func (v *volumeTest) end(id string) {
	v.Helper()
	v.must(&UpdateAllocations{NodeID: "5f3e", Allocations: []*api.Allocation{{ID: id, ClientStatus: api.AllocClientComplete}}})
}

func TestHostVolumesStayConsistent(t *testing.T) {
	v := newVolumeTest(t)
	stored := v.Snapshot().HostVolume(volumeID)
	if stored == nil || stored.State != api.HostVolumeReady || stored.HostPath != "/v/"+volumeID {
		t.Fatalf("the volume is %+v", stored)
	}
	if info := v.Snapshot().Node("5f3e").HostVolumes["data"]; info == nil || info.ID != volumeID || info.Namespace != "default" {
		t.Errorf("its node shows %+v", info)
	}
	other := func(change func(*api.HostVolume)) *api.HostVolume {
		c := goldenHostVolume()
		c.ID = "11111111-0000-4000-8000-000000000037"
		change(c)
		return c
	}
	v.refused(PutHostVolume(goldenHostVolume(), 0), "has modify index")
	v.refused(PutHostVolume(other(func(*api.HostVolume) {}), 0), `node one has a volume "data" already`)
	v.refused(PutHostVolume(other(func(c *api.HostVolume) { c.NodeID = "gone" }), 0), `node "gone" not found`)
	v.refused(PutHostVolume(other(func(c *api.HostVolume) { c.Namespace = "gone" }), 0), `namespace "gone" does not exist`)
	moved := goldenHostVolume()
	moved.Name = "moved"
	v.refused(PutHostVolume(moved, stored.ModifyIndex), "name, node and namespace of a volume never change")
	v.must(&RegisterNode{Node: &api.Node{ID: "5f3e", Name: "one", HostVolumes: map[string]*api.HostVolumeInfo{
		"static": {Path: "/s"}, "forged": {Path: "/", ID: "forged"}, "null": nil,
	}}})
	shown := v.Snapshot().Node("5f3e").HostVolumes
	if len(shown) != 3 || shown["forged"] != nil || shown["static"] == nil || shown["data"] == nil {
		t.Errorf("after another registration, with a forged volume, the node shows %v", shown)
	}
	v.refused(PutHostVolume(other(func(c *api.HostVolume) { c.Name = "static" }), 0), `a static volume "static"`)
	v.refused(DeleteNamespace("default", nil), "built in")

	deleting := goldenHostVolume()
	deleting.State, deleting.Generation = api.HostVolumeDeleting, 2
	v.refused(PutHostVolume(deleting, stored.ModifyIndex), `is in use by web.web[0] (a1)`)
	v.refused(DeleteHostVolume(volumeID), `is in use by web.web[0] (a1)`)
	v.end("a1")
	v.must(PutHostVolume(deleting, stored.ModifyIndex))
	if v.Snapshot().Node("5f3e").HostVolumes["data"] != nil {
		t.Error("a node shows a volume that it deletes")
	}
	job := v.Snapshot().Job("default", "web")
	late := &CommitPlacement{Placement: &Placement{Job: job, Place: []*api.Allocation{stickyAllocation("a2")}}}
	v.refused(late, `host volume "data" is not ready any longer`)
	v.must(&ReportVolumes{NodeID: "5f3e", Reports: []*api.HostVolumeReport{{ID: volumeID, Generation: 1, Deleted: true}, nil}})
	if v.Snapshot().HostVolume(volumeID) == nil {
		t.Error("a report on an earlier generation deleted the volume")
	}
	v.must(&RegisterNode{Node: &api.Node{ID: "77aa", Name: "two"}})
	v.must(&ReportVolumes{NodeID: "77aa", Reports: []*api.HostVolumeReport{{ID: volumeID, Generation: 2, Deleted: true}}})
	if v.Snapshot().HostVolume(volumeID) == nil {
		t.Error("another node's report deleted the volume")
	}
	v.must(&ReportVolumes{NodeID: "5f3e", Reports: []*api.HostVolumeReport{{ID: volumeID, Generation: 2, Deleted: true}}})
	if v.Snapshot().HostVolume(volumeID) != nil || len(slices.Collect(v.Snapshot().VolumeClaims())) != 0 {
		t.Error("the volume, or a claim on it, is left after its deletion")
	}
	v.refused(late, "not ready any longer")
}

func TestVolumeReportsFollowGenerations(t *testing.T) {
	v := newVolumeTest(t)
	grown := v.Snapshot().HostVolume(volumeID).Copy()
	grown.Generation, grown.RequestedCapacityMinBytes = 2, 1<<21
	v.must(PutHostVolume(grown, grown.ModifyIndex))
	report := func(r api.HostVolumeReport) *api.HostVolume {
		r.ID = volumeID
		v.must(&ReportVolumes{NodeID: "5f3e", Reports: []*api.HostVolumeReport{&r}})
		return v.Snapshot().HostVolume(volumeID)
	}
	if is := report(api.HostVolumeReport{Generation: 1, CapacityBytes: 7}); is.CapacityBytes == 7 {
		t.Errorf("an earlier report counts: %+v", is)
	}
	if is := report(api.HostVolumeReport{Generation: 2, Error: "full"}); is.State != api.HostVolumePending || is.Message != "full" || v.Snapshot().Node("5f3e").HostVolumes["data"] != nil {
		t.Errorf("after a failure: %+v", is)
	}
	is := report(api.HostVolumeReport{Generation: 2, HostPath: "/v", CapacityBytes: 9})
	if is.State != api.HostVolumeReady || is.Message != "" || is.CapacityBytes != 9 {
		t.Errorf("after a success: %+v", is)
	}
	if again := report(api.HostVolumeReport{Generation: 2, HostPath: "/v", CapacityBytes: 9}); again.ModifyIndex != is.ModifyIndex {
		t.Error("the same report changed the volume")
	}
	v.must(&ReportVolumes{NodeID: "5f3e", Reports: []*api.HostVolumeReport{
		{ID: "o1", Offered: &api.HostVolume{Namespace: "gone", Name: "o1"}}, {ID: "o2", Offered: &api.HostVolume{Namespace: "default", Name: "data"}},
		{ID: "o3", Offered: &api.HostVolume{Namespace: "default", Name: "o3", NodeID: "forged", ID: "forged"}},
	}})
	s := v.Snapshot()
	if o := s.HostVolume("o3"); s.HostVolume("o1") != nil || s.HostVolume("o2") != nil || o == nil || o.NodeID != "5f3e" {
		t.Errorf("offered volumes: %+v", o)
	}
}

func TestStickyVolumesAreClaimed(t *testing.T) {
	v := newVolumeTest(t)
	claims := slices.Collect(v.Snapshot().VolumeClaims())
	if len(claims) != 1 || claims[0].VolumeID != volumeID || claims[0].AllocID != "a1" || claims[0].Index != 0 || claims[0].Request != "data" {
		t.Fatalf("claims %+v", claims)
	}
	v.refused(DeleteVolumeClaim(claims[0].ID), "is in use by web.web[0]")
	v.end("a1")
	job := v.Snapshot().Job("default", "web")
	v.must(&CommitPlacement{Placement: &Placement{Job: job, Place: []*api.Allocation{stickyAllocation("a2")}}})
	if is := v.Snapshot().VolumeClaim(claims[0].ID); is == nil || is.AllocID != "a2" || is.CreateIndex != claims[0].CreateIndex {
		t.Errorf("after another placement the claim is %+v", is)
	}
	v.end("a2")
	v.must(DeleteVolumeClaim(claims[0].ID))
	if len(slices.Collect(v.Snapshot().VolumeClaimsOf("default", "web"))) != 0 {
		t.Error("a claim is left")
	}
}
