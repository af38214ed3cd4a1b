// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// ofJob returns the answer of a route about the objects of one job. Its index is the
// newest of the objects, so that a blocking query does not wake for other jobs. An empty
// answer has the index of the tables.
func ofJob[T, S any](c *call, v *state.Snapshot, objects iter.Seq[T], modified func(T) uint64, show func(T) S) ([]S, uint64, error) {
	answer := make([]S, 0)
	var index uint64
	for object := range objects {
		index = max(index, modified(object))
		answer = append(answer, show(object))
	}
	if len(answer) == 0 {
		index = v.TableIndex(c.route.Tables...)
	}
	// The removal of an object leaves no newer object.
	if c.seen >= 0 && c.seen != len(answer) {
		index = max(index, v.TableIndex(c.route.Tables...))
	}
	if c.seen < 0 {
		c.seen = len(answer)
	}
	return answer, index, nil
}

func getJobAllocations(c *call, v *state.Snapshot) ([]*api.AllocationListStub, uint64, error) {
	all, err := c.flag("all")
	if err != nil {
		return nil, 0, err
	}
	allocations := v.AllocationsByJob(c.namespace, c.id())
	if job := v.Job(c.namespace, c.id()); job != nil && !all {
		allocations = where(allocations, func(a *api.Allocation) bool {
			return a.Job == nil || a.Job.CreateIndex == job.CreateIndex
		})
	}
	return ofJob(c, v, allocations, allocationModified, func(a *api.Allocation) *api.AllocationListStub { return showAllocation(c, v, a) })
}

func getJobEvaluations(c *call, v *state.Snapshot) ([]*api.Evaluation, uint64, error) {
	return ofJob(c, v, v.EvaluationsByJob(c.namespace, c.id()), func(e *api.Evaluation) uint64 { return e.ModifyIndex }, itself)
}

func getJobDeployments(c *call, v *state.Snapshot) ([]*api.Deployment, uint64, error) {
	all, err := c.flag("all")
	if err != nil {
		return nil, 0, err
	}
	deployments := v.DeploymentsByJob(c.namespace, c.id())
	if job := v.Job(c.namespace, c.id()); job != nil && !all {
		deployments = where(deployments, func(d *api.Deployment) bool { return d.JobCreateIndex == job.CreateIndex })
	}
	return ofJob(c, v, deployments, func(d *api.Deployment) uint64 { return d.ModifyIndex }, itself)
}

func getJobDeployment(c *call, v *state.Snapshot) (*api.Deployment, uint64, error) {
	d := v.LatestDeployment(c.namespace, c.id())
	if d == nil {
		return nil, v.TableIndex(c.route.Tables...), nil
	}
	return d, d.ModifyIndex, nil
}

func getJobSummary(c *call, v *state.Snapshot) (*api.JobSummary, uint64, error) {
	summary := summaryOf(v, c.namespace, c.id())
	if summary == nil {
		return nil, v.TableIndex(c.route.Tables...), c.noJob()
	}
	return summary, max(summary.ModifyIndex, summary.CreateIndex), nil
}

func getJobVersions(c *call, v *state.Snapshot) (*api.JobVersionsResponse, uint64, error) {
	diffs, err := c.flag("diffs")
	if err != nil {
		return nil, 0, err
	}
	versions := slices.Clone(v.JobVersions(c.namespace, c.id()))
	if len(versions) == 0 {
		return nil, v.TableIndex(c.route.Tables...), c.noJob()
	}
	resp := &api.JobVersionsResponse{Versions: versions}
	for _, j := range versions {
		resp.Index = max(resp.Index, j.ModifyIndex)
	}
	if diffs {
		for i := range len(versions) - 1 {
			resp.Diffs = append(resp.Diffs, api.DiffJobs(versions[i+1], versions[i], true))
		}
	}
	return resp, resp.Index, nil
}

func getJobSubmission(c *call, v *state.Snapshot) (*api.JobSubmission, uint64, error) {
	version, err := c.number("version")
	if err != nil {
		return nil, 0, err
	}
	if !c.query.Has("version") {
		job := v.Job(c.namespace, c.id())
		if job == nil {
			return nil, v.TableIndex(c.route.Tables...), c.noJob()
		}
		version = job.Version
	}
	index := v.TableIndex(c.route.Tables...)
	submission, err := orNotFound(v.Submission(c.namespace, c.id(), version),
		"job %s has no source of version %d: it was registered without, or is forgotten", c.jobName(c.id()), version)
	return submission, index, err
}

func itself[T any](object T) T { return object }

func where[T any](objects iter.Seq[T], keep func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for object := range objects {
			if keep(object) && !yield(object) {
				return
			}
		}
	}
}
