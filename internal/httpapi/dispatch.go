// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func dispatchJob(c *call, req *api.DispatchJobRequest) (*api.DispatchJobResponse, uint64, error) {
	if req.JobID != "" && req.JobID != c.id() {
		return nil, 0, api.Errorf(api.CodeInvalid, "JobID: the request is about %q, but the path says %q", req.JobID, c.id())
	}
	if token := c.query.Get("idempotency_token"); token != "" {
		req.IdempotencyToken = token
	}
	resp, err := c.Server.DispatchJob(c.r.Context(), c.namespace, c.id(), req)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}

func getDispatchPayload(c *call, v *state.Snapshot) (*api.DispatchPayloadResponse, uint64, error) {
	job := v.Job(c.namespace, c.id())
	if job == nil {
		return nil, v.TableIndex(c.route.Tables...), c.noJob()
	}
	if !job.Dispatched {
		return nil, job.ModifyIndex, api.Errorf(api.CodeInvalid, "job %s was not dispatched: it has no payload", c.jobName(job.ID))
	}
	return &api.DispatchPayloadResponse{Payload: job.Payload}, job.ModifyIndex, nil
}

func forcePeriodic(c *call, _ *none) (*api.ForcePeriodicResponse, uint64, error) {
	resp, err := c.Server.ForcePeriodic(c.r.Context(), c.namespace, c.id())
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}
