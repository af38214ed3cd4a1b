// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"

	"github.com/reeve-run/reeve/api"
)

// Troubles lists the current problems of a job's instances, the most relevant first. A recent
// one may disappear soon, such as a check that fails while its task starts: At is the time
// since when it exists. FS.Tail returns a task's last output. The parameter "instance"
// selects the troubles of one instance, "version" those of one version.
func (j Jobs) Troubles(ctx context.Context, id string, q *QueryOptions) ([]*api.Trouble, *QueryMeta, error) {
	return get[[]*api.Trouble](ctx, j.c, pathf("/v1/job/%s/troubles", id), q)
}
