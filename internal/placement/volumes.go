// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// Host volumes are rules about single nodes: a volume is on one node, and node classes do not
// know it. Their use is room of the node: a volume with one writer is taken until the writer's
// node reports its end.

// A volumeNeed is a host volume that one instance needs.
type volumeNeed struct {
	request   string // name of the group's volume block
	namespace string // of the job
	name      string
	access    string
	mode      string // attachment
	readOnly  bool
	exclusive bool
	sticky    bool
	claimed   *Claimed // the volume that the instance keeps; nil: any
}

// A ClaimKey names a sticky volume of an instance.
type ClaimKey struct {
	Group   string
	Request string // name of the group's volume block
	Index   int    // of the instance
}

// A Claimed is the volume that an instance keeps.
type Claimed struct {
	ClaimID  string
	VolumeID string
	NodeName string // "": the volume does not exist any longer
}

// newVolumeNeeds returns the volumes that an instance of the group needs.
func newVolumeNeeds(namespace string, g *api.Group, index int, claims map[ClaimKey]Claimed) []volumeNeed {
	if len(g.Volumes) == 0 {
		return nil
	}
	var needs []volumeNeed
	for _, v := range g.HostVolumeRequests() {
		need := volumeNeed{
			request: v.Name, namespace: namespace, name: v.SourceOf(index), access: v.Access(), mode: v.Attachment(),
			readOnly: v.ReadOnly, exclusive: v.IsExclusive(), sticky: v.Sticky,
		}
		if claimed, ok := claims[ClaimKey{g.Name, v.Name, index}]; ok && v.Sticky {
			need.claimed = &claimed
		}
		needs = append(needs, need)
	}
	return needs
}

// needsOwnVolumes reports whether the instances of the group need different volumes.
func needsOwnVolumes(g *api.Group) bool {
	for _, v := range g.Volumes {
		if v != nil && (v.PerAlloc || v.Sticky) {
			return true
		}
	}
	return false
}

// mismatch returns what makes the node infeasible for the need, or "".
func (v *volumeNeed) mismatch(n *api.Node) string {
	info := n.HostVolumes[v.name]
	if v.claimed != nil && (info == nil || info.ID != v.claimed.VolumeID) {
		if v.claimed.NodeName == "" {
			return fmt.Sprintf("the instance keeps host volume %s, which was deleted: end its claim with: reeve volume claim delete %s", api.ShortID(v.claimed.VolumeID), v.claimed.ClaimID)
		}
		return fmt.Sprintf("the instance keeps host volume %q of node %s (claim %s)", v.name, v.claimed.NodeName, v.claimed.ClaimID)
	}
	switch {
	case info == nil || info.ID != "" && info.Namespace != v.namespace:
		return fmt.Sprintf("missing host volume %q", v.name)
	case info.ReadOnly && !v.readOnly:
		return fmt.Sprintf("host volume %q is read-only", v.name)
	case v.sticky && info.ID == "":
		return fmt.Sprintf("host volume %q is static, and sticky needs a volume of reeve volume create or register", v.name)
	case !info.Permits(v.access, v.mode):
		return fmt.Sprintf("host volume %q does not permit access mode %s", v.name, v.access)
	}
	return ""
}

// volumeMismatch returns what makes the node infeasible for the volumes of the group, or "".
func (r *rules) volumeMismatch(n *api.Node) string {
	for i := range r.volumes {
		if reason := r.volumes[i].mismatch(n); reason != "" {
			return reason
		}
	}
	return ""
}

// volumeKey identifies a volume of a node.
func volumeKey(name, id string) string {
	if id != "" {
		return id
	}
	return "static/" + name
}

// A volumeUse counts the allocations that write to a volume.
type volumeUse struct {
	writers   int32
	exclusive int32 // writers that bear no other writer
}

// volumeTaken reports whether another allocation keeps one from using the volume.
func (o *overlay) volumeTaken(key string, readOnly, exclusive bool) bool {
	if o.extra == nil || readOnly {
		return false
	}
	use := o.extra.volumes[key]
	return use.exclusive > 0 || exclusive && use.writers > 0
}

// volume adds (sign 1) or subtracts (sign -1) one allocation's use of a volume.
func (o *overlay) volume(key string, readOnly, exclusive bool, sign int) {
	if readOnly {
		return
	}
	x := o.editableExtra()
	use := x.volumes[key]
	use.writers += int32(sign)
	if exclusive {
		use.exclusive += int32(sign)
	}
	if use == (volumeUse{}) {
		delete(x.volumes, key)
		return
	}
	if x.volumes == nil {
		x.volumes = make(map[string]volumeUse)
	}
	x.volumes[key] = use
}

// volumeShortage names a volume of the node that another allocation writes to, or returns "".
func (r *rules) volumeShortage(n *api.Node, o *overlay) string {
	for i := range r.volumes {
		v := &r.volumes[i]
		if info := n.HostVolumes[v.name]; info != nil && o.volumeTaken(volumeKey(v.name, info.ID), v.readOnly, v.exclusive) {
			return takenVolume(v.name)
		}
	}
	return ""
}

func takenVolume(name string) string {
	return fmt.Sprintf("host volume %q has a writer, and may have only one", name)
}

// allocate adds the volumes of the node to the resources of an instance, which it copies.
func (r *rules) allocateVolumes(n *api.Node, held *api.AllocatedResources) *api.AllocatedResources {
	if len(r.volumes) == 0 {
		return held
	}
	own := *held
	own.Shared.Volumes = make([]api.AllocatedVolume, 0, len(r.volumes))
	for i := range r.volumes {
		v := &r.volumes[i]
		info := n.HostVolumes[v.name]
		if info == nil {
			continue
		}
		own.Shared.Volumes = append(own.Shared.Volumes, api.AllocatedVolume{
			Request: v.request, Name: v.name, ID: info.ID, ReadOnly: v.readOnly, Exclusive: v.exclusive, Sticky: v.sticky,
		})
	}
	return &own
}

// holdVolumes adds the volumes of one more instance to the overlay of the node.
func (r *rules) holdVolumes(o *overlay, n *api.Node) {
	for i := range r.volumes {
		v := &r.volumes[i]
		if info := n.HostVolumes[v.name]; info != nil {
			o.volume(volumeKey(v.name, info.ID), v.readOnly, v.exclusive, 1)
		}
	}
}

// volumeCollision describes a volume of an allocation that is not on the node, or that another
// allocation writes to, or returns "".
func (o *overlay) volumeCollision(r *api.AllocatedResources, n *api.Node) string {
	for _, v := range r.Shared.Volumes {
		switch info := n.HostVolumes[v.Name]; {
		case info == nil || info.ID != v.ID:
			return fmt.Sprintf("host volume %q is not on the node any longer", v.Name)
		case info.ReadOnly && !v.ReadOnly:
			return fmt.Sprintf("host volume %q is read-only", v.Name)
		case o.volumeTaken(volumeKey(v.Name, v.ID), v.ReadOnly, v.Exclusive):
			return takenVolume(v.Name)
		}
	}
	return ""
}
