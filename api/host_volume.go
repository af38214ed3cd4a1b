// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// States of a host volume.
const (
	HostVolumePending     = "pending"     // its node has yet to create it, or failed to
	HostVolumeReady       = "ready"       // jobs can use it
	HostVolumeUnavailable = "unavailable" // its node was deleted or does not answer; only shown, never stored
	HostVolumeDeleting    = "deleting"    // its node has yet to delete it
)

// Access modes of host volumes, of the capabilities of a volume and of the requests of groups.
const (
	AccessSingleNodeReader       = "single-node-reader-only"
	AccessSingleNodeWriter       = "single-node-writer"        // any number of instances read and write
	AccessSingleNodeSingleWriter = "single-node-single-writer" // one instance writes, any number read
	AccessSingleNodeMultiWriter  = "single-node-multi-writer"  // any number of instances read and write
)

// Attachment modes of host volumes.
const (
	AttachmentFileSystem  = "file-system"
	AttachmentBlockDevice = "block-device"
)

// PluginMkdir is the built-in plugin of host volumes: it makes a directory.
const PluginMkdir = "mkdir"

// A HostVolume is a volume that the API creates on a node, and that stays there: a dynamic
// host volume.
type HostVolume struct {
	Namespace string // whose jobs may use it
	ID        string
	Name      string // the source in job files; unique per node
	PluginID  string // plugin that creates it on the node; "" if it was registered
	NodePool  string
	NodeID    string
	// Constraints restrict the nodes on which it is created.
	Constraints []*Constraint `json:",omitempty"`

	RequestedCapacityMinBytes int64
	RequestedCapacityMaxBytes int64 // 0: no limit
	CapacityBytes             int64 // as the plugin reported

	RequestedCapabilities []*HostVolumeCapability
	Parameters            map[string]string `json:",omitempty"` // for the plugin
	HostPath              string            // on its node
	State                 string            // one of the HostVolume states
	// Message says why the volume is not ready: the error of its node.
	Message string `json:",omitempty"`
	// Generation counts the changes of what its node has to do.
	Generation uint64 `json:",omitempty"`

	CreateIndex uint64
	CreateTime  int64 // Unix nanoseconds
	ModifyIndex uint64
	ModifyTime  int64

	Allocations []*AllocationListStub `json:",omitempty"` // that use it; only in responses
}

// A HostVolumeCapability is one way in which groups may use a volume.
type HostVolumeCapability struct {
	AttachmentMode string
	AccessMode     string
}

// IsRegistered reports whether the volume's directory was made by others, who also delete it.
func (v *HostVolume) IsRegistered() bool { return v.PluginID == "" }

// Copy returns a shallow copy.
func (v *HostVolume) Copy() *HostVolume {
	c := *v
	return &c
}

// Info returns what its node shows of the volume.
func (v *HostVolume) Info() *HostVolumeInfo {
	return &HostVolumeInfo{Path: v.HostPath, ID: v.ID, Namespace: v.Namespace, Capabilities: v.RequestedCapabilities}
}

// HostVolumeStub is a volume in list responses.
type HostVolumeStub struct {
	Namespace     string
	ID            string
	Name          string
	PluginID      string
	NodePool      string
	NodeID        string
	CapacityBytes int64
	State         string
	CreateIndex   uint64
	CreateTime    int64
	ModifyIndex   uint64
	ModifyTime    int64
}

// Stub returns the volume for list responses.
func (v *HostVolume) Stub() *HostVolumeStub {
	return &HostVolumeStub{
		Namespace: v.Namespace, ID: v.ID, Name: v.Name, PluginID: v.PluginID, NodePool: v.NodePool, NodeID: v.NodeID,
		CapacityBytes: v.CapacityBytes, State: v.State, CreateIndex: v.CreateIndex, CreateTime: v.CreateTime,
		ModifyIndex: v.ModifyIndex, ModifyTime: v.ModifyTime,
	}
}

// HostVolumeInfo is a directory that a node offers to tasks: a static volume of its agent's
// configuration, or a dynamic one that is ready.
type HostVolumeInfo struct {
	Path         string
	ReadOnly     bool
	ID           string                  // of a dynamic volume; "": static
	Namespace    string                  `json:",omitempty"` // of a dynamic volume
	Capabilities []*HostVolumeCapability `json:",omitempty"` // of a dynamic volume
}

// Permits reports whether a group may use the volume in these modes.
func (i *HostVolumeInfo) Permits(access, attachment string) bool {
	return i.ID == "" || slices.ContainsFunc(i.Capabilities, func(c *HostVolumeCapability) bool {
		return c != nil && c.AccessMode == access && c.AttachmentMode == attachment
	})
}

// Equal reports whether two volumes are the same to the tasks of a node.
func (i *HostVolumeInfo) Equal(b *HostVolumeInfo) bool {
	return i.ID == b.ID && i.Path == b.Path && i.ReadOnly == b.ReadOnly && i.Namespace == b.Namespace &&
		slices.EqualFunc(i.Capabilities, b.Capabilities, func(x, y *HostVolumeCapability) bool { return *x == *y })
}

// HostVolumeRequest is the body of a request that creates or registers a volume.
type HostVolumeRequest struct {
	Volume *HostVolume
	// PolicyOverride is accepted for other clients, and has no effect.
	PolicyOverride bool `json:",omitempty"`
}

// HostVolumeResponse is the answer to it.
type HostVolumeResponse struct {
	Volume   *HostVolume
	Warnings string
	Index    uint64 `json:",omitempty"`
}

// NodeVolumesRequest is a node's report on the dynamic volumes that it has to create, has, or
// has deleted.
type NodeVolumesRequest struct {
	Volumes []*HostVolumeReport
}

// A HostVolumeReport is a node's report on one volume.
type HostVolumeReport struct {
	ID            string
	Generation    uint64 // to which the report refers
	HostPath      string
	CapacityBytes int64
	Error         string `json:",omitempty"` // why it was not created or deleted
	Deleted       bool   `json:",omitempty"`
	// Offered is a volume that the servers do not know, because they lost their state or are
	// those of another cluster. Nil: they know it.
	Offered *HostVolume `json:",omitempty"`
}

// Bounds of host volumes. The node bounds the output of plugins likewise.
const (
	maxVolumeParameters   = 64
	maxVolumeParameter    = 1024
	maxVolumeCapabilities = 16
	maxVolumePath         = 4096
	MaxVolumeMessage      = 1024
)

// IsVolumeName reports whether a volume may have the name: it is part of paths and of
// per_alloc sources.
func IsVolumeName(s string) bool {
	return s != "" && len(s) <= maxNameLength && s != "." && s != ".." && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`/\"'`, r)
	})
}

// IsPluginName reports whether s can be the file name of a plugin of host volumes.
func IsPluginName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "-") && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
}

// Canonicalize sets unset fields to their defaults. register says whether the volume's
// directory exists.
func (v *HostVolume) Canonicalize(register bool) {
	v.Namespace = cmp.Or(v.Namespace, DefaultNamespace)
	if !register {
		v.PluginID = cmp.Or(v.PluginID, PluginMkdir)
	}
	if len(v.RequestedCapabilities) == 0 {
		v.RequestedCapabilities = []*HostVolumeCapability{{AttachmentFileSystem, AccessSingleNodeWriter}}
	}
	for _, c := range v.RequestedCapabilities {
		if c != nil {
			c.AttachmentMode = cmp.Or(c.AttachmentMode, AttachmentFileSystem)
			c.AccessMode = cmp.Or(c.AccessMode, AccessSingleNodeWriter)
		}
	}
}

// Validate returns all errors of a canonicalized volume as one error.
func (v *HostVolume) Validate(register bool) error {
	var c complaints
	if !IsVolumeName(v.Name) {
		c.add("name %.64q: must be 1 to 128 characters without white space, quotes or slashes", v.Name)
	}
	if !IsNamespaceName(v.Namespace) {
		c.add("namespace %.64q: %s", v.Namespace, namespaceNameRule)
	}
	switch {
	case register && v.PluginID != "":
		c.add("plugin_id %.64q: a registered volume exists already, and has no plugin: remove it, or create the volume with: reeve volume create", v.PluginID)
	case !register && !IsPluginName(v.PluginID):
		c.add("plugin_id %.64q: must be the file name of a plugin, of letters, digits, dots, dashes and underscores, such as %q", v.PluginID, PluginMkdir)
	}
	switch {
	case register && v.NodeID == "":
		c.add("node_id is missing: name the node with the directory")
	case !register && v.HostPath != "":
		c.add("host_path %.64q: the plugin decides about the path of a created volume: remove it, or register the directory with: reeve volume register", v.HostPath)
	case register && (!filepath.IsAbs(v.HostPath) || filepath.Clean(v.HostPath) != v.HostPath || len(v.HostPath) > maxVolumePath || isSystemPath(v.HostPath)):
		c.add("host_path %.64q: must be the absolute path of a directory, without . and .., and not / nor below /proc, /sys and /dev", v.HostPath)
	}
	if v.RequestedCapacityMinBytes < 0 || v.RequestedCapacityMinBytes > math.MaxInt64/2 {
		c.add("capacity_min %d: must be a number of bytes from 0 on", v.RequestedCapacityMinBytes)
	}
	if most := v.RequestedCapacityMaxBytes; most < 0 || most > 0 && most < v.RequestedCapacityMinBytes {
		c.add("capacity_max %d: must not be less than capacity_min, which is %d", most, v.RequestedCapacityMinBytes)
	}
	c.checkCapabilities(v.RequestedCapabilities)
	c.checkParameters(v.Parameters)
	if v.PluginID == PluginMkdir && !register {
		if _, err := ParseMkdir(v.Parameters); err != nil {
			c.add("parameters: %v", err)
		}
	}
	validateConstraints(&c, "volume", v.Constraints)
	return c.err(fmt.Sprintf("volume %.64q is not valid", v.Name))
}

func (c *complaints) checkCapabilities(list []*HostVolumeCapability) {
	if len(list) > maxVolumeCapabilities {
		c.add("capability: there are %d blocks; at most %d are allowed", len(list), maxVolumeCapabilities)
		return
	}
	for i, k := range list {
		if k == nil {
			c.add("capability %d is null", i+1)
			continue
		}
		c.checkModes("capability", k.AccessMode, k.AttachmentMode)
	}
}

var accessModes = []string{AccessSingleNodeReader, AccessSingleNodeWriter, AccessSingleNodeSingleWriter, AccessSingleNodeMultiWriter}

func (c *complaints) checkModes(at, access, attachment string) {
	if !slices.Contains(accessModes, access) {
		c.add("%s: access_mode %.64q: must be one of %s", at, access, strings.Join(accessModes, ", "))
	}
	switch attachment {
	case AttachmentFileSystem:
	case AttachmentBlockDevice:
		c.add("%s: attachment_mode %q: host volumes are directories: use %q", at, attachment, AttachmentFileSystem)
	default:
		c.add("%s: attachment_mode %.64q: must be %s", at, attachment, AttachmentFileSystem)
	}
}

func (c *complaints) checkParameters(parameters map[string]string) {
	if len(parameters) > maxVolumeParameters {
		c.add("parameters: there are %d; at most %d are allowed", len(parameters), maxVolumeParameters)
		return
	}
	for _, k := range slices.Sorted(maps.Keys(parameters)) {
		if k == "" || len(k) > maxVolumeParameter || len(parameters[k]) > maxVolumeParameter {
			c.add("parameters: %.64q: a name must not be empty, and neither name nor value may exceed %d bytes", k, maxVolumeParameter)
		}
	}
}

// isSystemPath reports whether no volume may be at the path.
func isSystemPath(path string) bool {
	return path == "/" || slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(dir string) bool { return isWithin(path, dir) })
}

// isWithin reports whether a clean path is dir, or below it.
func isWithin(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// VolumePluginAttribute is the attribute of nodes with a plugin of host volumes; its value is the
// plugin's version.
func VolumePluginAttribute(plugin string) string {
	return "plugins.host_volume." + plugin + ".version"
}

// ModifiedSince reports whether the volume, which may be nil, is not the older one.
func (v *HostVolume) ModifiedSince(older *HostVolume) bool {
	return v != nil && v.ModifyIndex != older.ModifyIndex
}

// Check returns an error about a report that cannot be stored.
func (r *HostVolumeReport) Check() error {
	switch {
	case r == nil:
		return fmt.Errorf("is null")
	case r.ID == "" || len(r.ID) > 64:
		return fmt.Errorf("ID %.64q: must be that of a volume", r.ID)
	case r.HostPath != "" && (!filepath.IsAbs(r.HostPath) || len(r.HostPath) > maxVolumePath):
		return fmt.Errorf("HostPath %.64q: must be an absolute path", r.HostPath)
	case r.CapacityBytes < 0:
		return fmt.Errorf("CapacityBytes is %d", r.CapacityBytes)
	case len(r.Error) > MaxVolumeMessage:
		return fmt.Errorf("Error has %d bytes; at most %d are accepted", len(r.Error), MaxVolumeMessage)
	case r.Offered == nil:
		return nil
	}
	o := r.Offered.Copy()
	register := o.IsRegistered()
	o.NodeID = cmp.Or(o.NodeID, "node")
	if o.HostPath = ""; register {
		o.HostPath = r.HostPath
	}
	return o.Validate(register)
}
