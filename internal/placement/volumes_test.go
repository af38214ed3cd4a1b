// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
)

func volumeInfo(id string, modes ...string) *api.HostVolumeInfo {
	i := &api.HostVolumeInfo{Path: "/v/" + id, ID: id, Namespace: "default"}
	for _, m := range modes {
		i.Capabilities = append(i.Capabilities, &api.HostVolumeCapability{AccessMode: m, AttachmentMode: api.AttachmentFileSystem})
	}
	return i
}

func withVolume(job *api.Job, v api.VolumeRequest) *api.Job {
	v.Name, v.Type = "data", api.VolumeTypeHost
	job.Groups[0].Volumes = map[string]*api.VolumeRequest{"data": &v}
	return job
}

func requestsOf(job *api.Job) (all []*Request) {
	g := job.Groups[0]
	for i := range g.Size() {
		all = append(all, &Request{Job: job, Group: g, Name: api.AllocName(job.ID, g.Name, i), Index: i})
	}
	return all
}

func placeVolumes(f *fixture, job *api.Job, claims map[ClaimKey]Claimed) *Outcome {
	return Place(NewFleet(f).View(), &Order{EvalID: "e", Namespace: "default", JobID: job.ID, Requests: requestsOf(job), Claims: claims, Seed: 3})
}

// TestVolumesDecideAboutNodes asks for one volume on four nodes in different ways.
func TestVolumesDecideAboutNodes(t *testing.T) {
	f := testFleet(4)
	f.nodes[0].HostVolumes = map[string]*api.HostVolumeInfo{"data": {Path: "/srv"}, "data[1]": {Path: "/one"}}
	f.nodes[1].HostVolumes = map[string]*api.HostVolumeInfo{"data": {Path: "/srv", ReadOnly: true}, "data[0]": {Path: "/zero"}}
	f.nodes[2].HostVolumes = map[string]*api.HostVolumeInfo{"data": volumeInfo("v2", api.AccessSingleNodeWriter)}
	f.nodes[3].HostVolumes = map[string]*api.HostVolumeInfo{"data": volumeInfo("v3", api.AccessSingleNodeWriter)}
	f.nodes[3].HostVolumes["data"].Namespace = "other"
	for name, c := range map[string]struct {
		request api.VolumeRequest
		count   int
		claims  map[ClaimKey]Claimed
		on      string // allowed nodes, of each instance
		why     string // of the failure; "": all are placed
	}{
		"writes":        {api.VolumeRequest{Source: "data"}, 4, nil, "n0 n2", ""},
		"another mode":  {api.VolumeRequest{Source: "data", AccessMode: api.AccessSingleNodeMultiWriter}, 4, nil, "n0", ""},
		"sticky":        {api.VolumeRequest{Source: "data", Sticky: true}, 2, nil, "n2", ""},
		"missing":       {api.VolumeRequest{Source: "none"}, 1, nil, "", `missing host volume "none"`},
		"reads":         {api.VolumeRequest{Source: "data", ReadOnly: true}, 1, nil, "n0 n1", ""},
		"per_alloc":     {api.VolumeRequest{Source: "data", PerAlloc: true}, 2, nil, "n1,n0", ""},
		"per_alloc 2":   {api.VolumeRequest{Source: "data", PerAlloc: true}, 3, nil, "", `missing host volume "data[2]"`},
		"claimed":       {api.VolumeRequest{Source: "data", Sticky: true}, 1, map[ClaimKey]Claimed{{"web", "data", 0}: {"c", "v2", "n2"}}, "n2", ""},
		"claimed, away": {api.VolumeRequest{Source: "data", Sticky: true}, 1, map[ClaimKey]Claimed{{"web", "data", 0}: {"c", "v9", "n9"}}, "", `keeps host volume "data" of node n9 (claim c)`},
		"claimed, gone": {api.VolumeRequest{Source: "data", Sticky: true}, 1, map[ClaimKey]Claimed{{"web", "data", 0}: {"c", "v9", ""}}, "", `claim delete c`},
	} {
		job := withVolume(testJob(c.count), c.request)
		out := placeVolumes(f, job, c.claims)
		if c.why != "" {
			if out.IsWhole() || !strings.Contains(fmt.Sprint(out.Failed["web"].ConstraintFiltered), c.why) || !out.Escaped {
				t.Errorf("%s: %+v, escaped %t; want %q", name, out.Failed["web"], out.Escaped, c.why)
			}
			continue
		}
		if !out.IsWhole() {
			t.Errorf("%s: %+v", name, out.Failed["web"])
		}
		for i, a := range out.Place {
			allowed := strings.Split(c.on, ",")
			v := a.AllocatedResources.Shared.Volumes
			if !strings.Contains(allowed[i%len(allowed)], a.NodeName) || len(v) != 1 || v[0].Request != "data" || v[0].ReadOnly != c.request.ReadOnly {
				t.Errorf("%s: instance %d is on %s with %+v", name, i, a.NodeName, v)
			}
		}
	}
}

// TestVolumesHaveOneWriter places jobs with random access modes on views that are as old as the
// placements in flight, and commits what the check accepts: at no time do two allocations write to a
// volume of which one is the only writer.
func TestVolumesHaveOneWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := testFleet(3)
		for i, n := range f.nodes {
			n.HostVolumes = map[string]*api.HostVolumeInfo{"static": {Path: "/s"}}
			n.HostVolumes["data"] = volumeInfo(fmt.Sprintf("v%d", i), api.AccessSingleNodeWriter, api.AccessSingleNodeSingleWriter, api.AccessSingleNodeReader)
		}
		fleet := NewFleet(f)
		stored := map[string]*api.Allocation{}
		stale := fleet.View()
		for step := range rapid.IntRange(2, 12).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "view") {
				stale = fleet.View()
			}
			job := withVolume(testJob(rapid.IntRange(1, 3).Draw(t, "count")), api.VolumeRequest{
				Source:     rapid.SampledFrom([]string{"data", "static"}).Draw(t, "source"),
				AccessMode: rapid.SampledFrom([]string{api.AccessSingleNodeWriter, api.AccessSingleNodeSingleWriter}).Draw(t, "mode"),
			})
			if rapid.IntRange(0, 3).Draw(t, "reader") == 0 {
				job.Groups[0].Volumes["data"].ReadOnly, job.Groups[0].Volumes["data"].AccessMode = true, ""
			}
			job.ID = fmt.Sprintf("job-%d", step)
			out := Place(stale, &Order{EvalID: "e", Namespace: "default", JobID: job.ID, Requests: requestsOf(job), Seed: uint64(step)})
			refused := map[string]bool{}
			for _, r := range Check(fleet.View(), out.Place, func(id string) *api.Allocation { return stored[id] }) {
				refused[r.AllocID] = true
			}
			for _, a := range out.Place {
				if !refused[a.ID] {
					a.CreateIndex = uint64(step + 1)
					stored[a.ID] = a
					fleet.Change((*api.Allocation)(nil), a)
				}
			}
			for _, id := range slices.Sorted(maps.Keys(stored)) {
				a := stored[id]
				if rapid.IntRange(0, 4).Draw(t, "end "+id) == 0 {
					ended := *a
					ended.ClientStatus = api.AllocClientComplete
					fleet.Change(a, &ended)
					delete(stored, id)
				}
			}
			writers, alone := map[string]int{}, map[string]bool{}
			for _, a := range stored {
				for _, v := range a.AllocatedResources.Shared.Volumes {
					if key := a.NodeID + volumeKey(v.Name, v.ID); !v.ReadOnly {
						writers[key]++
						alone[key] = alone[key] || v.Exclusive
					}
				}
			}
			for key, n := range writers {
				if n > 1 && alone[key] {
					t.Fatalf("step %d: %d allocations write to %s, and one is its only writer", step, n, key)
				}
			}
		}
	})
}

// TestVolumesAreCheckedAgain removes a volume between its placement and the check.
func TestVolumesAreCheckedAgain(t *testing.T) {
	f := testFleet(1)
	f.nodes[0].HostVolumes = map[string]*api.HostVolumeInfo{"data": volumeInfo("v1", api.AccessSingleNodeWriter)}
	out := placeVolumes(f, withVolume(testJob(1), api.VolumeRequest{Source: "data"}), nil)
	if !out.IsWhole() {
		t.Fatalf("%+v", out.Failed)
	}
	none := func(string) *api.Allocation { return nil }
	if refused := Check(NewFleet(f).View(), out.Place, none); len(refused) != 0 {
		t.Errorf("refused: %+v", refused)
	}
	for _, now := range []map[string]*api.HostVolumeInfo{nil, {"data": volumeInfo("v2", api.AccessSingleNodeWriter)}} {
		f.nodes[0].HostVolumes = now
		if refused := Check(NewFleet(f).View(), out.Place, none); len(refused) != 1 || !strings.Contains(refused[0].Reason, "not on the node any longer") {
			t.Errorf("with %+v: %+v", now, refused)
		}
	}
}
