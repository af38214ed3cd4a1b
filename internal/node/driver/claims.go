// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"

	"github.com/reeve-run/reeve/api"
)

// ImageClaims says who needs the images of a node. The node implements it for drivers that keep images.
type ImageClaims interface {
	// Lives reports whether the node runs an allocation, or will.
	Lives(alloc string) bool
	// NeededImages returns the uses of jobs that are registered. It fails without servers: then any of the
	// uses may be needed.
	NeededImages(ctx context.Context, uses []*api.ImageUse) ([]*api.ImageUse, error)
}
