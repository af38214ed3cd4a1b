// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// ReportVolumes stores what a node reports on its dynamic volumes. A report on an earlier generation of
// a volume has no effect: the node has yet to hear of the newer one.
type ReportVolumes struct {
	NodeID  string
	Reports []*api.HostVolumeReport
	Time    int64 // Unix nanoseconds
}

// Name implements Command.
func (c *ReportVolumes) Name() string { return "ReportVolumes" }

func (c *ReportVolumes) encode() *wire.Command { return documentCommand(c) }

func (c *ReportVolumes) needs() (int, string) { return 3, "create host volumes" }

func (c *ReportVolumes) apply(t *txn) error {
	node := t.Node(c.NodeID)
	if node == nil {
		return nodeNotFound(c.NodeID)
	}
	for _, r := range c.Reports {
		if r == nil {
			continue
		}
		switch v := t.HostVolume(r.ID); {
		case v != nil && v.NodeID == c.NodeID:
			c.report(t, v, r)
		case v == nil && r.Offered != nil && !r.Deleted:
			c.adopt(t, node, r)
		}
	}
	return nil
}

func (c *ReportVolumes) report(t *txn, old *api.HostVolume, r *api.HostVolumeReport) {
	if r.Generation != old.Generation {
		return
	}
	if r.Deleted {
		if old.State == api.HostVolumeDeleting {
			hostVolumes.delete(t, old.ID)
		}
		return
	}
	v := old.Copy()
	v.Message = r.Error
	switch {
	case old.State == api.HostVolumeDeleting:
	case r.Error != "":
		v.State = api.HostVolumePending
	default:
		v.State, v.HostPath, v.CapacityBytes = api.HostVolumeReady, r.HostPath, r.CapacityBytes
	}
	if v.State == old.State && v.Message == old.Message && v.HostPath == old.HostPath && v.CapacityBytes == old.CapacityBytes {
		return
	}
	v.ModifyTime = c.Time
	hostVolumes.put(t, v)
}

// adopt stores a volume that a node has, and that the servers have never known or have lost. If its
// namespace does not exist or its name is taken, the node offers it again later.
func (c *ReportVolumes) adopt(t *txn, node *api.Node, r *api.HostVolumeReport) {
	v := r.Offered.Copy()
	v.ID, v.NodeID, v.NodePool = r.ID, node.ID, node.Pool()
	v.State, v.Message, v.HostPath, v.CapacityBytes = api.HostVolumeReady, "", r.HostPath, r.CapacityBytes
	v.Generation, v.ModifyTime, v.Allocations = r.Generation, c.Time, nil
	if t.Namespace(v.Namespace) == nil || freeVolumeName(hostVolumes, t.content, node, v) != nil {
		return
	}
	hostVolumes.put(t, v)
}
