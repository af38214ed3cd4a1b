// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

const hostVolumesName = "host-volumes"

var hostVolumes = declare(noun[api.HostVolume]{
	name: hostVolumesName, singular: "host volume", verb: "HostVolume", frame: 37,
	key:    func(v *api.HostVolume) string { return v.ID },
	stamp:  func(v *api.HostVolume) (create, modify *uint64) { return &v.CreateIndex, &v.ModifyIndex },
	groups: func(v *api.HostVolume) []string { return []string{onNode + v.NodeID, ofNamespace + v.Namespace} },
	topic:  api.TopicHostVolume,
	eventKey: func(v *api.HostVolume) EventKey {
		return EventKey{Key: v.ID, Namespace: v.Namespace, FilterKeys: []string{v.Name, v.NodeID}}
	},
	eventType: func(op Op, _ *api.HostVolume) string {
		if op == Delete {
			return api.EventTypeVolumeDeleted
		}
		return api.EventTypeVolumeUpserted
	},
	since:   func(*api.HostVolume) (int, string) { return 3, "create host volumes" },
	admit:   admitHostVolume,
	changed: changedHostVolume,
})

// Groups of host volumes.
const (
	onNode      = "node/"
	ofNamespace = "namespace/"
)

// TableHostVolumes holds *api.HostVolume.
var TableHostVolumes = hostVolumes.table

// storedVolumes returns the noun to functions that its declaration refers to: by the noun's
// variable, they would be an initialization cycle.
func storedVolumes() *noun[api.HostVolume] { return nounNamed(hostVolumesName).(*noun[api.HostVolume]) }

// HostVolume returns a volume; nil if it does not exist.
func (c *content) HostVolume(id string) *api.HostVolume { return storedVolumes().find(c, id) }

// HostVolumes yields the volumes whose id begins with prefix, ordered by id.
func (c *content) HostVolumes(prefix string) iter.Seq[*api.HostVolume] {
	return storedVolumes().all(c, prefix)
}

// HostVolumesOf yields the volumes of a node, ordered by id.
func (c *content) HostVolumesOf(nodeID string) iter.Seq[*api.HostVolume] {
	return storedVolumes().ofGroup(c, onNode+nodeID)
}

// PutHostVolume returns the command that stores a volume with what its node has to do. enforce is
// the modify index that the stored one must have; 0: it must not exist.
func PutHostVolume(v *api.HostVolume, enforce uint64) Command {
	return &putObject[api.HostVolume]{hostVolumes, v, &enforce}
}

// DeleteHostVolume returns the command that forgets a volume, even if its node still has it.
func DeleteHostVolume(id string) Command {
	return &deleteObject[api.HostVolume]{hostVolumes, id, nil}
}

func admitHostVolume(all *noun[api.HostVolume], c *content, old, new *api.HostVolume) error {
	switch {
	case new == nil || new.State == api.HostVolumeDeleting:
		return c.unusedVolume(old)
	case c.Namespace(new.Namespace) == nil:
		return api.Errorf(api.CodeInvalid, "namespace %q does not exist; create it with: reeve namespace apply %s", new.Namespace, new.Namespace)
	case old != nil && (old.NodeID != new.NodeID || old.Name != new.Name || old.Namespace != new.Namespace):
		return api.Errorf(api.CodeInvalid, "volume %s is %q on node %s in namespace %q: name, node and namespace of a volume never change; create another one", api.ShortID(old.ID), old.Name, api.ShortID(old.NodeID), old.Namespace)
	case old != nil && old.State == api.HostVolumeDeleting:
		return api.Errorf(api.CodeConflict, "volume %s is being deleted; create another one", api.ShortID(old.ID))
	case old != nil:
		return nil
	}
	node := c.Node(new.NodeID)
	if node == nil {
		return api.Errorf(api.CodeNotFound, "node %q not found; see: reeve node status", new.NodeID)
	}
	return freeVolumeName(all, c, node, new)
}

// freeVolumeName returns an error if the node has another volume of the name.
func freeVolumeName(all *noun[api.HostVolume], c *content, node *api.Node, v *api.HostVolume) error {
	if static := node.HostVolumes[v.Name]; static != nil && static.ID == "" {
		return api.Errorf(api.CodeConflict, "node %s has a static volume %q in its configuration; choose another name or node", node.Name, v.Name)
	}
	for other := range all.ofGroup(c, onNode+node.ID) {
		if other.Name == v.Name && other.ID != v.ID {
			return api.Errorf(api.CodeConflict, "node %s has a volume %q already; choose another name or node, or change that one by its id", node.Name, v.Name)
		}
	}
	return nil
}

// unusedVolume returns an error that names the allocations that use a volume.
func (c *content) unusedVolume(v *api.HostVolume) error {
	if v == nil {
		return nil
	}
	var users []string
	for a := range c.VolumeUsers(v) {
		users = append(users, a.Name+" ("+api.ShortID(a.ID)+")")
	}
	if len(users) == 0 {
		return nil
	}
	slices.Sort(users)
	more := ""
	if len(users) > 8 {
		users, more = users[:8], ", and others"
	}
	return api.Errorf(api.CodeConflict, "volume %q (%s) is in use by %s%s: stop their jobs first", v.Name, api.ShortID(v.ID), strings.Join(users, ", "), more)
}

// VolumeUsers yields the allocations that may use a volume now.
func (c *content) VolumeUsers(v *api.HostVolume) iter.Seq[*api.Allocation] {
	return func(yield func(*api.Allocation) bool) {
		for a := range c.AllocationsByNode(v.NodeID) {
			if a.IsClientTerminal() || a.AllocatedResources == nil {
				continue
			}
			uses := slices.ContainsFunc(a.AllocatedResources.Shared.Volumes, func(u api.AllocatedVolume) bool { return u.ID == v.ID })
			if uses && !yield(a) {
				return
			}
		}
	}
}

// changedHostVolume shows the volume on its node if it is ready, and ends its claims if it is deleted.
func changedHostVolume(t *txn, old, new *api.HostVolume) {
	v := new
	if v == nil {
		v = old
		t.endClaimsOn(old.ID)
	}
	node := t.Node(v.NodeID)
	if node == nil {
		return
	}
	volumes := t.volumesOf(node)
	if maps.EqualFunc(volumes, node.HostVolumes, (*api.HostVolumeInfo).Equal) {
		return
	}
	n := node.Copy()
	n.HostVolumes, n.ModifyIndex = volumes, t.index
	t.putNode(n)
}

// volumesOf returns the volumes that tasks can use on a node: the static ones that it reports, and
// its dynamic ones that are ready. A node cannot report dynamic ones by its registration.
func (t *txn) volumesOf(n *api.Node) map[string]*api.HostVolumeInfo {
	volumes := map[string]*api.HostVolumeInfo{}
	for name, info := range n.HostVolumes {
		if info != nil && info.ID == "" {
			volumes[name] = info
		}
	}
	for v := range t.HostVolumesOf(n.ID) {
		if _, static := volumes[v.Name]; !static && v.State == api.HostVolumeReady {
			volumes[v.Name] = v.Info()
		}
	}
	if len(volumes) == 0 {
		return nil
	}
	return volumes
}

// checkVolumes rejects a placement with a volume that is not ready: it was deleted while the placement
// was in flight.
func (t *txn) checkVolumes(p *Placement) error {
	for _, a := range p.Place {
		if a.AllocatedResources == nil || t.Allocation(a.ID) != nil {
			continue
		}
		for _, used := range a.AllocatedResources.Shared.Volumes {
			if used.ID == "" {
				continue
			}
			if v := t.HostVolume(used.ID); v == nil || v.NodeID != a.NodeID || v.State != api.HostVolumeReady {
				return api.Errorf(api.CodeConflict, "placement for evaluation %s: host volume %q is not ready any longer", p.EvalID, used.Name)
			}
		}
	}
	return nil
}
