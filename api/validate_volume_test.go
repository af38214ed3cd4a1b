// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
)

// TestVolumesOfAJobAreChecked breaks one field of a valid job at a time.
func TestVolumesOfAJobAreChecked(t *testing.T) {
	build := func(change func(j *Job, v *VolumeRequest, m *VolumeMount)) error {
		v := &VolumeRequest{Name: "data", Type: VolumeTypeHost, Source: "store"}
		m := &VolumeMount{Volume: "data", Destination: "/data"}
		j := &Job{ID: "web", Groups: []*Group{{
			Name: "web", Volumes: map[string]*VolumeRequest{"data": v},
			Tasks: []*Task{{Name: "web", Driver: "exec", Config: map[string]any{"command": "/bin/true"}, VolumeMounts: []*VolumeMount{m}}},
		}}}
		change(j, v, m)
		j.Canonicalize()
		return j.Validate()
	}
	if err := build(func(*Job, *VolumeRequest, *VolumeMount) {}); err != nil {
		t.Fatalf("a valid job: %v", err)
	}
	for _, d := range []string{"/srv/data", "/alloc/data", "/data//x/", "/procfs"} {
		if err := build(func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.Destination = d }); err != nil {
			t.Errorf("destination %s: %v", d, err)
		}
	}
	type request = func(*Job, *VolumeRequest, *VolumeMount)
	for want, change := range map[string]request{
		`destination "data": must be an absolute path`:              func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.Destination = "data" },
		`destination "": must be an absolute path`:                  func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.Destination = "" },
		`destination "/a/../b": must not contain ..`:                func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.Destination = "/a/../b" },
		`destination "//": must not be /`:                           func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.Destination = "//" },
		`destination "/proc/1": must not be / nor lie in /proc`:     func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.Destination = "/proc/1" },
		`destination "/./dev": must not be / nor lie in /proc`:      func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.Destination = "/./dev" },
		`destination "/secrets/": is a directory of the task`:       func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.Destination = "/secrets/" },
		`destination "/a\x00b": must be an absolute path`:           func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.Destination = "/a\x00b" },
		`propagation_mode "shared": must be private`:                func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.PropagationMode = "shared" },
		`volume "other": the group has no volume block`:             func(_ *Job, _ *VolumeRequest, m *VolumeMount) { m.Volume = "other" },
		`driver "raw_exec" cannot mount volumes`:                    func(j *Job, _ *VolumeRequest, _ *VolumeMount) { j.Groups[0].Tasks[0].Driver = "raw_exec" },
		`source "a/b": name a host volume`:                          func(_ *Job, v *VolumeRequest, _ *VolumeMount) { v.Source = "a/b" },
		`source "..": name a host volume`:                           func(_ *Job, v *VolumeRequest, _ *VolumeMount) { v.Source = ".." },
		`type "nfs": must be "host"`:                                func(_ *Job, v *VolumeRequest, _ *VolumeMount) { v.Type = "nfs" },
		`access_mode "all": must be one of`:                         func(_ *Job, v *VolumeRequest, _ *VolumeMount) { v.AccessMode = "all" },
		`access_mode "single-node-reader-only": the volume is not`:  func(_ *Job, v *VolumeRequest, _ *VolumeMount) { v.AccessMode = AccessSingleNodeReader },
		`attachment_mode "block-device": host volumes are`:          func(_ *Job, v *VolumeRequest, _ *VolumeMount) { v.AttachmentMode = AttachmentBlockDevice },
		`sticky: with per_alloc`:                                    func(_ *Job, v *VolumeRequest, _ *VolumeMount) { v.Sticky, v.PerAlloc = true, true },
		`sticky: the instances of a system job stay on their nodes`: func(j *Job, v *VolumeRequest, _ *VolumeMount) { j.Type, v.Sticky = JobTypeSystem, true },
		`mount_options: they are for volumes of type "csi"`:         func(_ *Job, v *VolumeRequest, _ *VolumeMount) { v.MountOptions = &VolumeMountOptions{} },
		`destination "/data/" is used twice`: func(j *Job, _ *VolumeRequest, m *VolumeMount) {
			j.Groups[0].Tasks[0].VolumeMounts = append(j.Groups[0].Tasks[0].VolumeMounts, &VolumeMount{Volume: "data", Destination: "/data/"})
		},
		`volume_mount 2 is null`: func(j *Job, _ *VolumeRequest, m *VolumeMount) {
			j.Groups[0].Tasks[0].VolumeMounts = append(j.Groups[0].Tasks[0].VolumeMounts, nil)
		},
		`volume "gone" is null`: func(j *Job, _ *VolumeRequest, m *VolumeMount) { j.Groups[0].Volumes["gone"] = nil },
	} {
		err := build(change)
		e, _ := err.(*Error)
		if e == nil || !strings.Contains(strings.Join(e.Detail, "\n"), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// TestHostVolumesAreChecked breaks one field of a valid volume at a time.
func TestHostVolumesAreChecked(t *testing.T) {
	for _, register := range []bool{false, true} {
		valid := func() *HostVolume {
			v := &HostVolume{Name: "data"}
			if register {
				v.NodeID, v.HostPath = "n", "/srv/data"
			}
			return v
		}
		check := func(change func(*HostVolume)) error {
			v := valid()
			change(v)
			v.Canonicalize(register)
			return v.Validate(register)
		}
		if err := check(func(*HostVolume) {}); err != nil {
			t.Fatalf("register %t: %v", register, err)
		}
		cases := map[string]func(*HostVolume){
			`name "../x"`:            func(v *HostVolume) { v.Name = "../x" },
			`name ".."`:              func(v *HostVolume) { v.Name = ".." },
			`namespace "a b"`:        func(v *HostVolume) { v.Namespace = "a b" },
			"capacity_min -1":        func(v *HostVolume) { v.RequestedCapacityMinBytes = -1 },
			"capacity_max 1":         func(v *HostVolume) { v.RequestedCapacityMinBytes, v.RequestedCapacityMaxBytes = 2, 1 },
			"capability 1 is null":   func(v *HostVolume) { v.RequestedCapabilities = []*HostVolumeCapability{nil} },
			`access_mode "x"`:        func(v *HostVolume) { v.RequestedCapabilities = []*HostVolumeCapability{{AccessMode: "x"}} },
			"17 blocks":              func(v *HostVolume) { v.RequestedCapabilities = make([]*HostVolumeCapability, 17) },
			"a name must not be emp": func(v *HostVolume) { v.Parameters = map[string]string{"mode": strings.Repeat("7", 2000)} },
		}
		if register {
			for _, path := range []string{"", "srv", "/", "/proc/1", "/sys", "/dev/x", "/a/../etc", "/a/", "//a"} {
				cases["host_path \""+path+"\": must"] = func(v *HostVolume) { v.HostPath = path }
			}
			cases["node_id is missing"] = func(v *HostVolume) { v.NodeID = "" }
		} else {
			for _, plugin := range []string{"../sh", ".", "..", "-x", "a/b", "a b", strings.Repeat("p", 65)} {
				cases["must be the file name of a plugin"+plugin[:0]] = func(v *HostVolume) { v.PluginID = plugin }
				if err := check(cases["must be the file name of a plugin"]); err == nil {
					t.Errorf("plugin %q is accepted", plugin)
				}
			}
			cases[`mode "4755"`] = func(v *HostVolume) { v.Parameters = map[string]string{"mode": "4755"} }
			cases[`uid "-1"`] = func(v *HostVolume) { v.Parameters = map[string]string{"uid": "-1"} }
			cases[`"owner" is not a parameter`] = func(v *HostVolume) { v.Parameters = map[string]string{"owner": "1"} }
		}
		for want, change := range cases {
			err := check(change)
			e, _ := err.(*Error)
			if e == nil || !strings.Contains(strings.Join(e.Detail, "\n"), want) {
				t.Errorf("register %t: %v; want %q", register, err, want)
			}
		}
	}
}
