// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/state"
)

// A volume's record says what its node has to do, and its Generation counts the changes of that. The
// stream of the node delivers all of its records after each change, and the node answers with reports
// that name the generation. So no creation is lost or done for an earlier request, whichever process
// ends in between.

// volumeAttempts bounds the attempts to choose a node, and to change a volume that others change.
const volumeAttempts = 5

// PutVolume creates a volume on a node that it chooses, registers an existing directory, or changes
// the volume of an id: its capacity, capabilities and parameters.
func (s *Server) PutVolume(ctx context.Context, v *api.HostVolume, register bool) (*api.HostVolume, uint64, error) {
	if v == nil {
		return nil, 0, api.Errorf(api.CodeInvalid, "the request holds no Volume: send {\"Volume\": {...}}")
	}
	v = v.Copy()
	v.Canonicalize(register)
	for attempt := 1; ; attempt++ {
		stored, enforce, err := s.nextVolume(v, register, time.Now())
		if err != nil {
			return nil, 0, err
		}
		index, err := s.propose(ctx, state.PutHostVolume(stored, enforce))
		if api.CodeOf(err) == api.CodeConflict && attempt < volumeAttempts && (v.ID != "" || v.NodeID == "") {
			continue // another request took the name on the node, or changed the volume
		}
		if err != nil {
			return nil, 0, err
		}
		return s.store.Snapshot().HostVolume(stored.ID), index, nil
	}
}

// nextVolume returns the record to store, and the modify index that the stored one must have.
func (s *Server) nextVolume(v *api.HostVolume, register bool, now time.Time) (*api.HostVolume, uint64, error) {
	snap := s.store.Snapshot()
	if v.ID != "" {
		return changedVolume(snap, v, register, now)
	}
	if err := v.Validate(register); err != nil {
		return nil, 0, err
	}
	next := v.Copy()
	next.ID = (&api.IDs{Expected: 1}).Next()
	next.State, next.Message, next.Generation, next.CapacityBytes, next.Allocations = api.HostVolumePending, "", 1, 0, nil
	next.CreateTime, next.ModifyTime = now.UnixNano(), now.UnixNano()
	node, err := chooseNode(snap, next)
	if err != nil {
		return nil, 0, err
	}
	next.NodeID, next.NodePool = node.ID, node.Pool()
	return next, 0, nil
}

// changedVolume returns the stored volume with the changes of a request.
func changedVolume(snap *state.Snapshot, v *api.HostVolume, register bool, now time.Time) (*api.HostVolume, uint64, error) {
	old := snap.HostVolume(v.ID)
	if old == nil || old.Namespace != v.Namespace {
		return nil, 0, api.Errorf(api.CodeNotFound, "volume %.64q not found in namespace %q; leave out the id to create one", v.ID, v.Namespace)
	}
	next := old.Copy()
	next.RequestedCapacityMinBytes, next.RequestedCapacityMaxBytes = v.RequestedCapacityMinBytes, v.RequestedCapacityMaxBytes
	next.RequestedCapabilities, next.Parameters, next.Constraints = v.RequestedCapabilities, v.Parameters, v.Constraints
	next.Name = cmp.Or(v.Name, old.Name)
	next.NodeID = cmp.Or(v.NodeID, old.NodeID)
	next.HostPath = cmp.Or(v.HostPath, old.HostPath)
	if node := snap.Node(old.NodeID); node != nil && v.NodePool == node.Pool() {
		next.NodePool = v.NodePool // the node moved, and the request follows it
	}
	switch {
	case old.IsRegistered() != register:
		return nil, 0, api.Errorf(api.CodeInvalid, "volume %s was %s, and cannot be changed by the other verb", api.ShortID(old.ID), map[bool]string{true: "registered", false: "created"}[old.IsRegistered()])
	case v.NodePool != "" && v.NodePool != next.NodePool:
		return nil, 0, api.Errorf(api.CodeInvalid, "node_pool %q: volume %s is on a node of pool %q, and stays there", v.NodePool, api.ShortID(old.ID), next.NodePool)
	case !register && v.HostPath != "" && v.HostPath != old.HostPath:
		return nil, 0, api.Errorf(api.CodeInvalid, "host_path %.64q: the plugin decides about the path of a created volume: remove it", v.HostPath)
	case !register && v.PluginID != old.PluginID && v.PluginID != api.PluginMkdir:
		return nil, 0, api.Errorf(api.CodeInvalid, "plugin_id %q: volume %s was created by plugin %q", v.PluginID, api.ShortID(old.ID), old.PluginID)
	case old.CapacityBytes > 0 && next.RequestedCapacityMaxBytes > 0 && next.RequestedCapacityMaxBytes < old.CapacityBytes:
		return nil, 0, api.Errorf(api.CodeInvalid, "capacity_max %d: volume %s has %d bytes, and only grows", next.RequestedCapacityMaxBytes, api.ShortID(old.ID), old.CapacityBytes)
	}
	check := next.Copy()
	if !register {
		check.HostPath = ""
	}
	if err := check.Validate(register); err != nil {
		return nil, 0, err
	}
	next.Message, next.Allocations = "", nil
	next.Generation, next.ModifyTime = old.Generation+1, now.UnixNano()
	return next, old.ModifyIndex, nil
}

// chooseNode returns the node of a new volume: the requested one, or of those that fit the one with the
// fewest volumes.
func chooseNode(snap *state.Snapshot, v *api.HostVolume) (*api.Node, error) {
	job := &api.Job{Type: api.JobTypeBatch, NodePool: cmp.Or(v.NodePool, api.NodePoolAll), Constraints: v.Constraints, Namespace: v.Namespace}
	fit := placement.NewSuitability(job, &api.Group{Name: "volume"})
	obstacle := func(n *api.Node) string {
		if reason, ok := fit.Of(n); !ok {
			return reason
		}
		return volumeObstacle(snap, n, v)
	}
	if v.NodeID != "" {
		n := snap.Node(v.NodeID)
		if n == nil {
			return nil, api.Errorf(api.CodeNotFound, "node %.64q not found; see: reeve node status", v.NodeID)
		}
		if why := obstacle(n); why != "" {
			return nil, api.Errorf(api.CodeConflict, "node %s cannot have the volume: %s", n.Name, why)
		}
		return n, nil
	}
	var best *api.Node
	fewest, reasons := 0, map[string]int{}
	for n := range snap.Nodes() {
		why := "the node takes no new allocations"
		if n.IsReady() {
			why = obstacle(n)
		}
		if why != "" {
			reasons[why]++
			continue
		}
		count := 0
		for range snap.HostVolumesOf(n.ID) {
			count++
		}
		if best == nil || count < fewest || count == fewest && freeBytes(n) > freeBytes(best) {
			best, fewest = n, count
		}
	}
	if best == nil {
		return nil, api.Errorf(api.CodeConflict, "no node can have volume %q: %s", v.Name, summary(reasons))
	}
	return best, nil
}

// summary returns the most frequent reasons with their numbers of nodes.
func summary(reasons map[string]int) string {
	if len(reasons) == 0 {
		return "the cluster has no nodes"
	}
	var all []string
	for why, nodes := range reasons {
		all = append(all, fmt.Sprintf("%06d%s (nodes: %d)", 999_999-min(nodes, 999_999), why, nodes))
	}
	slices.Sort(all)
	all = all[:min(len(all), 5)]
	for i := range all {
		all[i] = all[i][6:]
	}
	return strings.Join(all, "; ")
}

// volumeObstacle says why the node cannot have another volume; "" if it can.
func volumeObstacle(snap *state.Snapshot, n *api.Node, v *api.HostVolume) string {
	if n.Status != api.NodeStatusReady {
		return "the node is " + n.Status
	}
	if v.PluginID != "" && n.Attributes[pluginAttribute(v.PluginID)] == "" {
		return fmt.Sprintf("missing plugin %q for host volumes", v.PluginID)
	}
	if static := n.HostVolumes[v.Name]; static != nil && static.ID == "" {
		return fmt.Sprintf("it has a static volume %q", v.Name)
	}
	promised := int64(0)
	for other := range snap.HostVolumesOf(n.ID) {
		if other.Name == v.Name {
			return fmt.Sprintf("it has a volume %q already", v.Name)
		}
		if other.State == api.HostVolumePending {
			promised += max(0, min(other.RequestedCapacityMinBytes, 1<<60))
		}
	}
	if free := freeBytes(n); v.PluginID == api.PluginMkdir && free > 0 && v.RequestedCapacityMinBytes > free-promised {
		return fmt.Sprintf("not enough disk: %d bytes are free", max(free-promised, 0))
	}
	return ""
}

// pluginAttribute is the attribute of nodes with a plugin of host volumes: its version.
func pluginAttribute(plugin string) string { return api.VolumePluginAttribute(plugin) }

func freeBytes(n *api.Node) int64 {
	free, _ := strconv.ParseInt(n.Attributes["unique.storage.bytesfree"], 10, 64)
	return free
}

// DeleteVolume makes the node of a volume delete it. force forgets the volume of a node that does not
// answer; the data stays on the node.
func (s *Server) DeleteVolume(ctx context.Context, id string, force bool) (uint64, error) {
	for attempt := 1; ; attempt++ {
		snap := s.store.Snapshot()
		v := snap.HostVolume(id)
		if v == nil {
			return 0, api.Errorf(api.CodeNotFound, "volume %.64q not found", id)
		}
		node := snap.Node(v.NodeID)
		gone := node == nil || node.Status != api.NodeStatusReady
		switch {
		case gone && !force:
			return 0, api.Errorf(api.CodeConflict, "node %s of volume %q does not answer, and cannot delete it: start its agent, or forget the volume with -force (its data stays on the node)", api.ShortID(v.NodeID), v.Name)
		case gone || v.State == api.HostVolumePending && v.HostPath == "" && force:
			return s.propose(ctx, state.DeleteHostVolume(id))
		}
		next := v.Copy()
		next.State, next.Message, next.Generation, next.ModifyTime = api.HostVolumeDeleting, "", v.Generation+1, time.Now().UnixNano()
		index, err := s.propose(ctx, state.PutHostVolume(next, v.ModifyIndex))
		if api.CodeOf(err) == api.CodeConflict && attempt < volumeAttempts && s.store.Snapshot().HostVolume(id).ModifiedSince(v) {
			continue
		}
		return index, err
	}
}

// DeleteVolumeClaim ends the claim of an instance that does not run.
func (s *Server) DeleteVolumeClaim(ctx context.Context, id string) (uint64, error) {
	return s.propose(ctx, state.DeleteVolumeClaim(id))
}

// maxVolumeReports bounds the reports of one request of a node.
const maxVolumeReports = 4096

// ReportVolumes stores what a node reports on its volumes.
func (s *Server) ReportVolumes(ctx context.Context, nodeID string, reports []*api.HostVolumeReport) (uint64, error) {
	snap := s.store.Snapshot()
	if _, err := registered(snap, nodeID); err != nil {
		return 0, err
	}
	if len(reports) > maxVolumeReports {
		return 0, api.Errorf(api.CodeInvalid, "there are %d reports; at most %d are accepted", len(reports), maxVolumeReports)
	}
	cmd := &state.ReportVolumes{NodeID: nodeID, Time: time.Now().UnixNano()}
	for i, r := range reports {
		if err := r.Check(); err != nil {
			return 0, api.Errorf(api.CodeInvalid, "Volumes[%d]: %v", i, err)
		}
		if v := snap.HostVolume(r.ID); v == nil && r.Offered == nil || v != nil && v.NodeID != nodeID {
			continue
		}
		cmd.Reports = append(cmd.Reports, r)
	}
	if len(cmd.Reports) == 0 {
		return snap.Index(), nil
	}
	return s.propose(ctx, cmd)
}

// ShownVolume returns a volume as the API shows it: with its allocations, and unavailable while its
// node does not answer.
func ShownVolume(snap *state.Snapshot, v *api.HostVolume) *api.HostVolume {
	shown := v.Copy()
	shown.State = VolumeState(snap, v)
	for a := range snap.VolumeUsers(v) {
		shown.Allocations = append(shown.Allocations, a.Stub())
	}
	slices.SortFunc(shown.Allocations, func(a, b *api.AllocationListStub) int { return strings.Compare(a.ID, b.ID) })
	return shown
}

// VolumeState returns the state of a volume, with its node's.
func VolumeState(snap *state.Snapshot, v *api.HostVolume) string {
	if n := snap.Node(v.NodeID); v.State == api.HostVolumeReady && (n == nil || n.Status != api.NodeStatusReady) {
		return api.HostVolumeUnavailable
	}
	return v.State
}

// volumeWarnings lists the volumes that a job requests and no node has.
func volumeWarnings(snap *state.Snapshot, job *api.Job) (warnings []string) {
	for _, g := range job.Groups {
		for _, v := range g.HostVolumeRequests() {
			name := v.SourceOf(0)
			found, others := false, []string{}
			for n := range snap.Nodes() {
				if info := n.HostVolumes[name]; info != nil && (info.ID == "" || info.Namespace == job.Namespace) {
					found = true
					break
				}
				if len(n.HostVolumes) > 0 && len(others) < 3 {
					others = append(others, n.Name)
				}
			}
			if found {
				continue
			}
			have := "no node has volumes"
			if len(others) > 0 {
				have = "nodes with volumes: " + strings.Join(others, ", ")
			}
			warnings = append(warnings, fmt.Sprintf("group %q: no node has host volume %q; %s; create one with: reeve volume create FILE", g.Name, name, have))
		}
	}
	return warnings
}
