// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// Versions lists a job's versions, newest first, and optionally their changes.
func (j Jobs) Versions(ctx context.Context, id string, diffs bool, q *QueryOptions) (*api.JobVersionsResponse, *QueryMeta, error) {
	return get[*api.JobVersionsResponse](ctx, j.c, pathf("/v1/job/%s/versions", id), q.with("diffs", strconv.FormatBool(diffs)))
}

// Submission returns the text that a version was registered from.
func (j Jobs) Submission(ctx context.Context, id string, version uint64, q *QueryOptions) (*api.JobSubmission, *QueryMeta, error) {
	return get[*api.JobSubmission](ctx, j.c, pathf("/v1/job/%s/submission", id),
		q.with("version", strconv.FormatUint(version, 10)))
}

// Revert registers an older version again, as a new version.
func (j Jobs) Revert(ctx context.Context, req *api.RevertJobRequest) (*api.RegisterJobResponse, error) {
	return send[*api.RegisterJobResponse](ctx, j.c, http.MethodPut, pathf("/v1/job/%s/revert", req.JobID), nil, req)
}

// SetStable marks a version as a target of automatic reverts, or not.
func (j Jobs) SetStable(ctx context.Context, id string, version uint64, stable bool) (*api.JobStabilityResponse, error) {
	req := &api.JobStabilityRequest{JobID: id, JobVersion: version, Stable: stable}
	return send[*api.JobStabilityResponse](ctx, j.c, http.MethodPut, pathf("/v1/job/%s/stable", id), nil, req)
}

// Scale sets the count of one group.
func (j Jobs) Scale(ctx context.Context, id string, req *api.ScaleJobRequest) (*api.RegisterJobResponse, error) {
	return send[*api.RegisterJobResponse](ctx, j.c, http.MethodPut, pathf("/v1/job/%s/scale", id), nil, req)
}

// ScaleStatus returns every group's counts and the history of their changes.
func (j Jobs) ScaleStatus(ctx context.Context, id string, q *QueryOptions) (*api.ScaleStatus, *QueryMeta, error) {
	return get[*api.ScaleStatus](ctx, j.c, pathf("/v1/job/%s/scale", id), q)
}
