// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"fmt"
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/jobspec"
)

var jobsByName = order[*api.Job]{
	key:    func(j *api.Job) key { return key{namespace: j.Namespace, id: j.ID} },
	stored: true,
	byName: true,
	seen: func(c *call, j *api.Job) any {
		if c.may(acl.ReadJob, j.Namespace) {
			return j
		}
		stub := j.Stub(nil)
		stub.Meta = j.Meta
		return stub
	},
}

func listJobs(c *call, v *state.Snapshot) iter.Seq[*api.Job] {
	all := where(v.JobsPrefix(c.namespace, c.prefix), func(j *api.Job) bool { return c.inNamespace(j.Namespace) })
	if !c.query.Has("domain") {
		return all
	}
	domain := c.query.Get("domain")
	return where(all, func(j *api.Job) bool { return j.Domain == domain })
}

func showJob(c *call, v *state.Snapshot, j *api.Job) *api.JobListStub {
	stub := j.Stub(summaryOf(v, j.Namespace, j.ID))
	if meta, _ := c.flag("meta"); meta {
		stub.Meta = j.Meta
	}
	return stub
}

// summaryOf returns a job's summary; nil if the job does not exist. It always contains the
// counts of children, because other clients read them without a check.
func summaryOf(v *state.Snapshot, namespace, id string) *api.JobSummary {
	s := v.JobSummary(namespace, id)
	if s != nil && s.Children == nil {
		s.Children = &api.JobChildrenSummary{}
	}
	return s
}

func getJob(c *call, v *state.Snapshot) (*api.Job, uint64, error) {
	job := v.Job(c.namespace, c.id())
	if job == nil {
		return nil, v.TableIndex(c.route.Tables...), c.noJob()
	}
	return job, job.ModifyIndex, nil
}

func (c *call) noJob() error {
	snap := c.Server.Store().Snapshot()
	if s := snap.Stack(c.namespace, c.id()); s != nil && s.IsExternal() {
		return snap.JobNotFound(c.namespace, c.id())
	}
	return api.Errorf(api.CodeNotFound, "job %s not found", c.jobName(c.id()))
}

func registerJob(c *call, req *api.RegisterJobRequest) (*api.RegisterJobResponse, uint64, error) {
	if err := c.takeNamespace(req.Job, &req.Namespace); err != nil {
		return nil, 0, err
	}
	resp, err := c.Server.RegisterJob(c.r.Context(), req)
	if err != nil {
		return nil, 0, enforced(req, err)
	}
	c.nameObject("job", req.Job.Namespace, req.Job.ID)
	if len(c.warnings) > 0 {
		resp.Warnings = c.warned(resp.Warnings)
	}
	return resp, resp.Index, nil
}

// enforced adds words to the error of a failed check-and-set by which clients recognize
// it.
func enforced(req *api.RegisterJobRequest, err error) error {
	var e *api.Error
	if !req.EnforceIndex || !errors.As(err, &e) || e.Code != api.CodeConflict || len(e.Detail) > 0 {
		return err
	}
	return &api.Error{Code: e.Code, Message: fmt.Sprintf("Enforcing job modify index %d: %s", req.JobModifyIndex, e.Message), Detail: e.Detail}
}

func registerNamedJob(c *call, req *api.RegisterJobRequest) (*api.RegisterJobResponse, uint64, error) {
	if err := c.takeJobID(req.Job); err != nil {
		return nil, 0, err
	}
	return registerJob(c, req)
}

func planJob(c *call, req *api.PlanJobRequest) (*api.PlanJobResponse, uint64, error) {
	if err := c.takeNamespace(req.Job, &req.Namespace); err != nil {
		return nil, 0, err
	}
	if err := c.takeJobID(req.Job); err != nil {
		return nil, 0, err
	}
	resp, err := c.Server.PlanJob(c.r.Context(), req)
	if err != nil {
		return nil, 0, err
	}
	if len(c.warnings) > 0 {
		resp.Warnings = c.warned(resp.Warnings)
	}
	return resp, resp.JobModifyIndex, nil
}

func validateJob(c *call, req *api.ValidateJobRequest) (*api.ValidateJobResponse, uint64, error) {
	if err := c.takeNamespace(req.Job, &req.Namespace); err != nil {
		return nil, 0, err
	}
	resp := c.Server.ValidateJob(c.r.Context(), req.Job)
	if len(c.warnings) > 0 {
		resp.Warnings = c.warned(resp.Warnings)
	}
	return resp, 0, nil
}

// takeNamespace settles which namespace a job goes to: its own, else the
// request's, else the parameter's. It returns an error if the caller may not use it.
func (c *call) takeNamespace(job *api.Job, requested *string) error {
	if job == nil {
		return api.Errorf(api.CodeInvalid, "Job: the request has none")
	}
	if job.Namespace == "" {
		job.Namespace = *requested
	}
	if job.Namespace == "" {
		job.Namespace = c.namespace
	}
	*requested = job.Namespace
	return c.permitJob(job.Namespace)
}

// takeJobID rejects a body about another job than that of the path.
func (c *call) takeJobID(job *api.Job) error {
	if job == nil || job.ID == "" {
		return api.Errorf(api.CodeInvalid, "Job.ID: the request's job has none")
	}
	if job.ID != c.id() {
		return api.Errorf(api.CodeInvalid, "Job.ID: the job is %q, but the path says %q", job.ID, c.id())
	}
	return nil
}

// parseJob parses a job file; its errors name the lines.
func parseJob(c *call, req *api.ParseJobRequest) (*api.Job, uint64, error) {
	job, err := jobspec.Parse(jobspec.Source{Name: "job", Text: []byte(req.JobHCL)}, jobspec.Options{VarText: req.Variables, Context: c.r.Context()})
	if err != nil {
		return nil, 0, api.Errorf(api.CodeInvalid, "%v", err)
	}
	if req.Canonicalize {
		job.Canonicalize()
	}
	return job, 0, nil
}

func deregisterJob(c *call, _ *none) (*api.DeregisterJobResponse, uint64, error) {
	var o server.DeregisterOptions
	var err error
	if o.Purge, err = c.flag("purge"); err != nil {
		return nil, 0, err
	}
	if o.NoShutdownDelay, err = c.flag("no_shutdown_delay"); err != nil {
		return nil, 0, err
	}
	priority, err := c.number("eval_priority")
	if err != nil {
		return nil, 0, err
	}
	if priority > api.JobPriorityMax {
		return nil, 0, api.Errorf(api.CodeInvalid, "eval_priority: %d is not in 0..%d", priority, api.JobPriorityMax)
	}
	o.EvalPriority = int(priority)
	resp, err := c.Server.DeregisterJob(c.r.Context(), c.namespace, c.id(), o)
	if api.CodeOf(err) == api.CodeNotFound {
		return &api.DeregisterJobResponse{}, 0, nil // clients stop what may be gone, and mean that it be gone
	}
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}

func evaluateJob(c *call, req *api.EvaluateJobRequest) (*api.RegisterJobResponse, uint64, error) {
	resp, err := c.Server.EvaluateJob(c.r.Context(), c.namespace, c.id(), req.EvalOptions.ForceReschedule)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}
