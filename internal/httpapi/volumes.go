// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"iter"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// Capabilities for host volumes.
const (
	CreateVolume   Capability = "host-volume-create"
	RegisterVolume Capability = "host-volume-register"
	ReadVolume     Capability = "host-volume-read"
	DeleteVolume   Capability = "host-volume-delete"
)

// volumeRoutes are the routes of host volumes and of claims on them.
func volumeRoutes() []route {
	volumes, claims := state.TableHostVolumes, state.TableVolumeClaims
	return []route{
		list("/v1/volumes", ReadVolume, "Lists host volumes by id. Type `csi` has none.", volumesByID, listVolumes, showVolume).filtering().blocking(volumes, nodes).params("type", "node_id", "node_pool", "name"),
		write(put, "/v1/volume/host/create", CreateVolume, "Creates a host volume on a node, or changes the one of an id. It is ready when its node has created it.", createVolume),
		write(put, "/v1/volume/host/register", RegisterVolume, "Registers a directory of a node as a host volume, or changes the one of an id.", registerVolume),
		read("/v1/volume/host/{id}", ReadVolume, "Returns a host volume, with the allocations that use it.", getVolume).blocking(volumes, nodes, allocations),
		write(del, "/v1/volume/host/{id}", DeleteVolume, "Deletes a host volume that no allocation uses. `force` forgets it if its node does not answer.", deleteVolume).params("force"),
		write(del, "/v1/volume/host/{id}/delete", DeleteVolume, "Deletes a host volume, as `DELETE /v1/volume/host/{id}`.", deleteVolume).params("force"),
		list("/v1/volumes/claims", ReadVolume, "Lists claims by id: the volumes that instances keep.", claimsByID, listClaims, showClaim).filtering().blocking(claims).params("job_id", "task_group", "volume_name"),
		write(del, "/v1/volumes/claim/{id}", DeleteVolume, "Ends a claim, whose instance must have stopped.", deleteClaim),
		write(put, "/v1/node/{id}/volumes", BeNode, "Records what a node reports on its dynamic host volumes.", reportVolumes).upTo(nodeBodyLimit).forNodes(ownNode),
		write(put, "/v1/node/{id}/image-pin", BeNode, "Returns the digest of an image that a node's task must run, and pins it for the job's version if it is the first.", pinImage).forNodes(ownNode),
		write(put, "/v1/node/{id}/image-uses", BeNode, "Returns which of a node's images registered jobs need.", imageUses).upTo(nodeBodyLimit).forNodes(ownNode),
		read("/v1/job/{id}/images", ReadJob, "Lists the pins of a job's images, the newest version first: the digests that all instances of a version run.", getJobImages).blocking(state.TableImagePins, jobs),
	}
}

var volumesByID = order[*api.HostVolume]{key: func(v *api.HostVolume) key { return key{id: v.ID} }, stored: true}

func listVolumes(c *call, v *state.Snapshot) iter.Seq[*api.HostVolume] {
	kind, node, pool, name := c.query.Get("type"), c.query.Get("node_id"), c.query.Get("node_pool"), c.query.Get("name")
	return where(v.HostVolumes(c.prefix), func(h *api.HostVolume) bool {
		return (kind == "" || kind == api.VolumeTypeHost) && c.inNamespace(h.Namespace) && c.mayRead(h.Namespace) &&
			strings.HasPrefix(h.NodeID, node) && (pool == "" || h.NodePool == pool) && (name == "" || h.Name == name)
	})
}

func showVolume(_ *call, v *state.Snapshot, h *api.HostVolume) *api.HostVolumeStub {
	stub := h.Stub()
	stub.State = server.VolumeState(v, h)
	return stub
}

func getVolume(c *call, v *state.Snapshot) (*api.HostVolume, uint64, error) {
	index := v.TableIndex(c.route.Tables...)
	h, err := find("volume", c.id(), v.HostVolume(c.id()), v.HostVolumes, func(h *api.HostVolume) string { return h.ID })
	if err != nil {
		return nil, index, err
	}
	return server.ShownVolume(v, h), index, nil
}

func createVolume(c *call, req *api.HostVolumeRequest) (*api.HostVolumeResponse, uint64, error) {
	return c.putVolume(req, false)
}

func registerVolume(c *call, req *api.HostVolumeRequest) (*api.HostVolumeResponse, uint64, error) {
	return c.putVolume(req, true)
}

func (c *call) putVolume(req *api.HostVolumeRequest, register bool) (*api.HostVolumeResponse, uint64, error) {
	if req.Volume != nil {
		req.Volume.Namespace = cmp.Or(req.Volume.Namespace, c.namespace)
		if err := c.permit(c.route.needs, req.Volume.Namespace); err != nil {
			return nil, 0, err
		}
	}
	v, index, err := c.Server.PutVolume(c.r.Context(), req.Volume, register)
	if err != nil {
		return nil, 0, err
	}
	return &api.HostVolumeResponse{Volume: v, Warnings: c.warned(""), Index: index}, index, nil
}

func deleteVolume(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	force, err := c.flag("force")
	if err != nil {
		return nil, 0, err
	}
	index, err := c.Server.DeleteVolume(c.r.Context(), c.id(), force)
	return &api.IndexResponse{Index: index}, index, err
}

var claimsByID = order[*api.VolumeClaim]{key: func(v *api.VolumeClaim) key { return key{id: v.ID} }, stored: true}

func listClaims(c *call, v *state.Snapshot) iter.Seq[*api.VolumeClaim] {
	job, group, name := c.query.Get("job_id"), c.query.Get("task_group"), c.query.Get("volume_name")
	return where(v.VolumeClaims(), func(k *api.VolumeClaim) bool {
		return strings.HasPrefix(k.ID, c.prefix) && c.inNamespace(k.Namespace) && c.mayRead(k.Namespace) &&
			(job == "" || k.JobID == job) && (group == "" || k.TaskGroupName == group) && (name == "" || k.VolumeName == name)
	})
}

func showClaim(_ *call, _ *state.Snapshot, k *api.VolumeClaim) *api.VolumeClaim { return k }

func deleteClaim(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	index, err := c.Server.DeleteVolumeClaim(c.r.Context(), c.id())
	return &api.IndexResponse{Index: index}, index, err
}

func reportVolumes(c *call, req *api.NodeVolumesRequest) (*api.IndexResponse, uint64, error) {
	index, err := c.Server.ReportVolumes(c.r.Context(), c.id(), req.Volumes)
	return &api.IndexResponse{Index: index}, index, err
}
