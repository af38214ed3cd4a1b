// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// Images is a driver with a store of images.
type Images interface {
	// ListImages describes the images, and what the next collection does with them.
	ListImages(ctx context.Context, claims driver.ImageClaims) (*api.NodeImages, error)
	// CollectImages removes the images that no allocation and no registered job needs.
	CollectImages(ctx context.Context, claims driver.ImageClaims) (*api.NodeImages, error)
}

var _ driver.ImageClaims = (*Node)(nil)

// usesTimeout bounds one question which images registered jobs need.
const usesTimeout = 10 * time.Second

// Lives reports whether the node runs an allocation, or will.
func (n *Node) Lives(alloc string) bool { return n.lives(alloc) }

// Prefetches reports whether the node pulls images ahead for a version of a job, or does not know yet.
func (n *Node) Prefetches(namespace, job string, version uint64) bool {
	return n.prefetcher.wants(namespace, job, version)
}

// NeededImages asks the servers which images registered jobs need.
func (n *Node) NeededImages(ctx context.Context, uses []*api.ImageUse) (needed []*api.ImageUse, err error) {
	ctx, cancel := context.WithTimeout(ctx, usesTimeout)
	defer cancel()
	for part := range slices.Chunk(uses, api.MaxImageUses) {
		answer, err := n.config.Servers.ImageUses(ctx, n.identity.ID, &api.ImageUsesRequest{Uses: part})
		if err != nil {
			return nil, err
		}
		needed = append(needed, answer.Uses...)
	}
	return needed, nil
}

func (n *Node) serveImages(w http.ResponseWriter, r *http.Request) error {
	return n.answerImages(w, r, Images.ListImages)
}

func (n *Node) serveCollectImages(w http.ResponseWriter, r *http.Request) error {
	return n.answerImages(w, r, Images.CollectImages)
}

func (n *Node) answerImages(w http.ResponseWriter, r *http.Request, do func(Images, context.Context, driver.ImageClaims) (*api.NodeImages, error)) error {
	if n.config.Images == nil {
		return api.Errorf(api.CodeUnavailable, "this node keeps no images: its agent runs no containers")
	}
	list, err := do(n.config.Images, r.Context(), n)
	if err != nil {
		return err
	}
	list.NodeID, list.Prefetches = n.identity.ID, n.prefetcher.list()
	return writeJSON(w, list)
}
