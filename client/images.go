// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"

	"github.com/reeve-run/reeve/api"
)

// Images returns the pins of a job's images, the newest version first: the digests that all instances of a
// version run.
func (j Jobs) Images(ctx context.Context, id string, q *QueryOptions) ([]*api.ImagePin, *QueryMeta, error) {
	return get[[]*api.ImagePin](ctx, j.c, pathf("/v1/job/%s/images", id), q)
}
