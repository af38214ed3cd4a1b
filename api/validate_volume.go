// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// VolumeTypeHost is the type of volumes that are directories of nodes.
const VolumeTypeHost = "host"

// Values of VolumeMount.PropagationMode.
const (
	PropagationPrivate       = "private"
	PropagationHostToTask    = "host-to-task"
	PropagationBidirectional = "bidirectional"
)

// Access returns the access mode that the request needs.
func (v *VolumeRequest) Access() string {
	if v.ReadOnly {
		return cmp.Or(v.AccessMode, AccessSingleNodeReader)
	}
	return cmp.Or(v.AccessMode, AccessSingleNodeWriter)
}

// Attachment returns the attachment mode that the request needs.
func (v *VolumeRequest) Attachment() string { return cmp.Or(v.AttachmentMode, AttachmentFileSystem) }

// IsExclusive reports whether no other instance may write to the volume at the same time.
func (v *VolumeRequest) IsExclusive() bool {
	return v.AccessMode == AccessSingleNodeSingleWriter && !v.ReadOnly
}

// SourceOf returns the name of the volume for an instance.
func (v *VolumeRequest) SourceOf(index int) string {
	if v.PerAlloc {
		return fmt.Sprintf("%s[%d]", v.Source, index)
	}
	return v.Source
}

// HostVolumeRequests returns the group's requests of host volumes, ordered by name.
func (g *Group) HostVolumeRequests() []*VolumeRequest {
	var all []*VolumeRequest
	for _, name := range slices.Sorted(maps.Keys(g.Volumes)) {
		if v := g.Volumes[name]; v != nil && v.Type == VolumeTypeHost {
			all = append(all, v)
		}
	}
	return all
}

// withoutVolumes are the drivers that cannot show a volume to a task: their tasks see the
// whole node, or nothing.
var withoutVolumes = map[string]string{
	"raw_exec":    "its tasks see the whole node: use the path of the directory in the task, or driver \"exec\"",
	"mock":        "it runs nothing; use driver \"exec\"",
	"mock_driver": "it runs nothing; use driver \"exec\"",
}

func (g *Group) validateVolumes(c *complaints, j *Job, at string) {
	for _, name := range slices.Sorted(maps.Keys(g.Volumes)) {
		if v := g.Volumes[name]; v == nil {
			c.add("%s: volume %q is null", at, name)
		} else if v.Type != "csi" {
			v.validate(c, j, fmt.Sprintf("%s: volume %q", at, name), name)
		}
	}
	for _, t := range g.Tasks {
		if t != nil {
			t.validateMounts(c, g, fmt.Sprintf("%s, task %q", at, t.Name))
		}
	}
}

func (v *VolumeRequest) validate(c *complaints, j *Job, at, name string) {
	switch {
	case !isTaskName(name) || v.Name != "" && v.Name != name:
		c.add("%s: a name must be 1 to 128 characters without white space or slashes, and the same as its key", at)
	case v.Type != VolumeTypeHost:
		c.add("%s: type %.64q: must be %q", at, v.Type, VolumeTypeHost)
		return
	case !IsVolumeName(v.Source):
		c.add("%s: source %.64q: name a host volume: 1 to 128 characters without white space, quotes or slashes", at, v.Source)
	}
	if v.MountOptions != nil {
		c.add("%s: mount_options: they are for volumes of type \"csi\": remove the block", at)
	}
	if v.AccessMode != "" || v.AttachmentMode != "" {
		c.checkModes(at, v.Access(), v.Attachment())
	}
	if v.AccessMode == AccessSingleNodeReader && !v.ReadOnly {
		c.add("%s: access_mode %q: the volume is not read_only: set read_only = true, or use another mode", at, v.AccessMode)
	}
	if (v.Sticky || v.PerAlloc) && j.RunsOnEveryNode() {
		c.add("%s: %s: the instances of a %s job stay on their nodes anyway: remove it", at, map[bool]string{true: "sticky", false: "per_alloc"}[v.Sticky], j.Type)
	}
	if v.Sticky && v.PerAlloc {
		c.add("%s: sticky: with per_alloc, each instance has its own volume already: remove one of the two", at)
	}
}

// reservedDirs are directories of a task in which nothing is mounted.
var reservedDirs = []string{"/proc", "/sys", "/dev"}

func (t *Task) validateMounts(c *complaints, g *Group, at string) {
	if len(t.VolumeMounts) == 0 {
		return
	}
	if why := withoutVolumes[t.Driver]; why != "" {
		c.add("%s: volume_mount: driver %q cannot mount volumes, because %s", at, t.Driver, why)
	}
	seen := map[string]bool{}
	for i, m := range t.VolumeMounts {
		if m == nil {
			c.add("%s: volume_mount %d is null", at, i+1)
			continue
		}
		at := fmt.Sprintf("%s: volume_mount %q", at, m.Volume)
		m.validate(c, at, g.Volumes[m.Volume] != nil)
		if clean := path.Clean(m.Destination); seen[clean] {
			c.add("%s: destination %.64q is used twice in the task", at, m.Destination)
		} else {
			seen[clean] = true
		}
	}
}

func (m *VolumeMount) validate(c *complaints, at string, exists bool) {
	if !exists {
		c.add("%s: volume %.64q: the group has no volume block of that name: add one, or correct the name", at, m.Volume)
	}
	d := m.Destination
	switch {
	case !path.IsAbs(d) || len(d) > maxVolumePath || strings.ContainsFunc(d, func(r rune) bool { return r < ' ' || r == 0x7f }):
		c.add("%s: destination %.64q: must be an absolute path in the task, such as \"/data\"", at, d)
	case slices.Contains(strings.Split(d, "/"), ".."):
		c.add("%s: destination %.64q: must not contain ..", at, d)
	case path.Clean(d) == "/" || slices.ContainsFunc(reservedDirs, func(dir string) bool { return isWithin(path.Clean(d), dir) }):
		c.add("%s: destination %.64q: must not be / nor lie in /proc, /sys or /dev", at, d)
	case slices.Contains([]string{"/alloc", "/local", "/secrets", "/tmp"}, path.Clean(d)):
		c.add("%s: destination %.64q: is a directory of the task itself: choose another one, such as \"/data\"", at, d)
	}
	switch m.PropagationMode {
	case "", PropagationPrivate, PropagationHostToTask, PropagationBidirectional:
	default:
		c.add("%s: propagation_mode %.64q: must be private, host-to-task or bidirectional", at, m.PropagationMode)
	}
	switch m.SELinuxLabel {
	case "", "z", "Z":
	default:
		c.add("%s: selinux_label %.64q: must be \"z\" or \"Z\"", at, m.SELinuxLabel)
	}
}
