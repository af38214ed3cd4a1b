// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/reeve-run/reeve/api"
)

// Volumes has the calls about host volumes.
type Volumes struct{ c *Client }

// Volumes returns the calls about the host volumes of the client's namespace.
func (c *Client) Volumes() Volumes { return Volumes{c} }

// List lists the volumes that the caller may read.
func (v Volumes) List(ctx context.Context, o *QueryOptions) ([]*api.HostVolumeStub, *QueryMeta, error) {
	return get[[]*api.HostVolumeStub](ctx, v.c, "/v1/volumes", o)
}

// Get returns a volume by its id, or by the only beginning of one.
func (v Volumes) Get(ctx context.Context, id string, o *QueryOptions) (*api.HostVolume, *QueryMeta, error) {
	return get[*api.HostVolume](ctx, v.c, pathf("/v1/volume/host/%s", id), o)
}

// Create creates a volume on a node, or changes the one of its id.
func (v Volumes) Create(ctx context.Context, volume *api.HostVolume) (*api.HostVolumeResponse, error) {
	return send[*api.HostVolumeResponse](ctx, v.c, http.MethodPut, "/v1/volume/host/create", nil, &api.HostVolumeRequest{Volume: volume})
}

// Register registers a directory of a node as a volume.
func (v Volumes) Register(ctx context.Context, volume *api.HostVolume) (*api.HostVolumeResponse, error) {
	return send[*api.HostVolumeResponse](ctx, v.c, http.MethodPut, "/v1/volume/host/register", nil, &api.HostVolumeRequest{Volume: volume})
}

// Delete deletes a volume that no allocation uses. force forgets the volume of a node that does not
// answer.
func (v Volumes) Delete(ctx context.Context, id string, force bool) (*api.IndexResponse, error) {
	q := url.Values{}
	if force {
		q.Set("force", "true")
	}
	return send[*api.IndexResponse](ctx, v.c, http.MethodDelete, pathf("/v1/volume/host/%s", id), q, nil)
}

// Claims lists the volumes that instances keep.
func (v Volumes) Claims(ctx context.Context, o *QueryOptions) ([]*api.VolumeClaim, *QueryMeta, error) {
	return get[[]*api.VolumeClaim](ctx, v.c, "/v1/volumes/claims", o)
}

// DeleteClaim ends a claim.
func (v Volumes) DeleteClaim(ctx context.Context, id string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, v.c, http.MethodDelete, pathf("/v1/volumes/claim/%s", id), nil, nil)
}
