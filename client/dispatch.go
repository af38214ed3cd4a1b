// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Dispatch starts a parameterized job with arguments. It returns when the child job and its
// evaluation are durable.
func (j Jobs) Dispatch(ctx context.Context, req *api.DispatchJobRequest) (*api.DispatchJobResponse, error) {
	return send[*api.DispatchJobResponse](ctx, j.c, http.MethodPut, pathf("/v1/job/%s/dispatch", req.JobID), nil, req)
}

// DispatchPayload returns the payload of a dispatched job.
func (j Jobs) DispatchPayload(ctx context.Context, id string, q *QueryOptions) ([]byte, *QueryMeta, error) {
	out, meta, err := get[api.DispatchPayloadResponse](ctx, j.c, pathf("/v1/job/%s/dispatch/payload", id), q)
	return out.Payload, meta, err
}

// ForcePeriodic starts a child of a periodic job now, regardless of its schedule.
func (j Jobs) ForcePeriodic(ctx context.Context, id string) (*api.ForcePeriodicResponse, error) {
	return send[*api.ForcePeriodicResponse](ctx, j.c, http.MethodPut, pathf("/v1/job/%s/periodic/force", id), nil, nil)
}
