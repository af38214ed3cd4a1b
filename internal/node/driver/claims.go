// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"errors"

	"github.com/reeve-run/reeve/api"
)

// ImageClaims says who needs the images of a node. The node implements it for drivers that keep images.
type ImageClaims interface {
	// Lives reports whether the node runs an allocation, or will.
	Lives(alloc string) bool
	// Prefetches reports whether the node pulls images ahead for a version of a job, or does not know yet.
	Prefetches(namespace, job string, version uint64) bool
	// NeededImages returns the uses of jobs that are registered. It fails without servers: then any of the
	// uses may be needed.
	NeededImages(ctx context.Context, uses []*api.ImageUse) ([]*api.ImageUse, error)
}

// A Prefetcher is a driver that pulls images before their tasks start.
type Prefetcher interface {
	// Prefetch makes the image of a task present in the node's store, and notes for which version of its job. It returns
	// nil if the store has the image, and a *SkipError if another attempt is useless.
	Prefetch(ctx context.Context, p *Prefetch) error
}

// A Prefetch describes an image to pull ahead.
type Prefetch struct {
	Namespace  string
	JobID      string
	JobVersion uint64
	Config     map[string]any // the task's config block, interpolated as far as the node can without the task
	Digest     string         // that the version runs; "": the image's name has it
}

// ErrNoRoom is returned by Prefetch if the image would fill the disk.
var ErrNoRoom = errors.New("the disk has no room for images that are pulled ahead")

// A SkipError says why an image cannot be pulled ahead.
type SkipError struct{ Reason string }

// Error returns the reason.
func (e *SkipError) Error() string { return e.Reason }
