// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"

	"github.com/reeve-run/reeve/api"
)

// Troubles lists what keeps a job's instances from being as they should be, now:
// the most telling first. What came up a moment ago may be gone in the next, such as
// a check that a task does not answer yet while it starts: At says since when it is
// so. FS.Tail reads what a task said last. The parameter "instance" picks those
// of one instance, "version" those of one version.
func (j Jobs) Troubles(ctx context.Context, id string, q *QueryOptions) ([]*api.Trouble, *QueryMeta, error) {
	return get[[]*api.Trouble](ctx, j.c, pathf("/v1/job/%s/troubles", id), q)
}
