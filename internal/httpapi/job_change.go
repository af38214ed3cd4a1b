// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func revertJob(c *call, req *api.RevertJobRequest) (*api.RegisterJobResponse, uint64, error) {
	if req.JobID == "" {
		req.JobID = c.id()
	}
	if req.JobID != c.id() {
		return nil, 0, api.Errorf(api.CodeInvalid, "JobID: the request is about %q, but the path says %q", req.JobID, c.id())
	}
	if req.Namespace == "" {
		req.Namespace = c.namespace
	}
	resp, err := c.Server.RevertJob(c.r.Context(), req)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}

func setJobStable(c *call, req *api.JobStabilityRequest) (*api.JobStabilityResponse, uint64, error) {
	index, err := c.Server.SetJobStability(c.r.Context(), c.namespace, c.id(), req.JobVersion, req.Stable)
	if err != nil {
		return nil, 0, err
	}
	return &api.JobStabilityResponse{JobModifyIndex: index, Index: index}, index, nil
}

func scaleJob(c *call, req *api.ScaleJobRequest) (*api.RegisterJobResponse, uint64, error) {
	if job := req.Target["Job"]; job != "" && job != c.id() {
		return nil, 0, api.Errorf(api.CodeInvalid, "Target.Job: the request is about %q, but the path says %q", job, c.id())
	}
	resp, err := c.Server.ScaleJob(c.r.Context(), c.namespace, c.id(), req)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}

func getJobScale(c *call, v *state.Snapshot) (*api.ScaleStatus, uint64, error) {
	job := v.Job(c.namespace, c.id())
	if job == nil {
		return nil, v.TableIndex(c.route.Tables...), c.noJob()
	}
	events := v.ScalingEvents(job.Namespace, job.ID)
	status := &api.ScaleStatus{
		JobID: job.ID, Namespace: job.Namespace, JobCreateIndex: job.CreateIndex, JobModifyIndex: job.ModifyIndex,
		JobStopped: job.Stop, TaskGroups: make(map[string]api.GroupScaleStatus, len(job.Groups)),
	}
	index := job.ModifyIndex
	groups := map[string]*api.GroupScaleStatus{}
	for _, g := range job.Groups {
		groups[g.Name] = &api.GroupScaleStatus{Desired: g.Size(), Events: append([]api.ScalingEvent{}, events[g.Name]...)}
		for _, e := range events[g.Name] {
			index = max(index, e.CreateIndex)
		}
	}
	for a := range v.AllocationsByJob(job.Namespace, job.ID) {
		index = max(index, a.ModifyIndex)
		if g := groups[a.Group]; g != nil && !a.IsTerminal() {
			countAllocation(g, a)
		}
	}
	for name, g := range groups {
		status.TaskGroups[name] = *g
	}
	return status, index, nil
}

func countAllocation(g *api.GroupScaleStatus, a *api.Allocation) {
	g.Placed++
	if a.ClientStatus == api.AllocClientRunning {
		g.Running++
	}
	if a.IsHealthy() {
		g.Healthy++
	}
	if a.IsUnhealthy() {
		g.Unhealthy++
	}
}

// changeJob changes a job in place. It rejects a field that cannot be changed in place
// instead of ignoring it: the caller would believe that it was changed.
func changeJob(c *call, req *api.JobChange) (*api.ChangeJobResponse, uint64, error) {
	if len(c.warnings) > 0 {
		fields := make([]string, len(c.warnings))
		for i, w := range c.warnings {
			fields[i] = strings.TrimSuffix(w, " is not a known field and was ignored") + " cannot be changed here"
		}
		return nil, 0, &api.Error{
			Code: api.CodeInvalid, Detail: fields,
			Message: "a change without a restart is made of JobModifyIndex, Annotation and, in Groups, Count, Routes, MetricTags and Services with Tags, Meta, Checks and CheckRestart; register the whole job to change more",
		}
	}
	resp, err := c.Server.ChangeJob(c.r.Context(), c.namespace, c.id(), req)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}
