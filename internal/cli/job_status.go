// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func jobStatusCommand(c *cli) *command {
	var (
		all   bool
		evals bool
		short bool
		wide  bool
	)
	return &command{
		use:   "status [JOB]",
		short: "List jobs, or show a job with its groups, deployment and allocations",
		example: `reeve job status
reeve job status web
reeve job status -t '{{.Status}}' web`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&all, "all-allocs", false, "also show allocations of earlier jobs with this id")
			f.BoolVar(&evals, "evals", false, "also show evaluations")
			f.BoolVar(&short, "short", false, "omit the deployment and allocations")
			f.BoolVar(&wide, "verbose", false, "show full ids and more columns")
		},
		run: func(r *call) error {
			if len(r.args) == 0 {
				return c.listJobs(r.ctx, r.cl, r.format)
			}
			s, err := c.readJobStatus(r.ctx, r.cl, r.args[0], all)
			if err != nil {
				return err
			}
			return r.show(s, func(p *term.Page) {
				if short {
					s.Allocations, s.Deployment = nil, nil
				}
				view.Job(p, s, wide)
				if evals {
					p.Section("Evaluations")
					view.Evaluations(p, s.Evaluations)
				}
				view.JobNext(p, s)
			})
		},
	}
}

func (c *cli) listJobs(ctx context.Context, cl *client.Client, f format) error {
	jobs, err := listAll(ctx, client.QueryOptions{}, cl.Jobs().List)
	if err != nil {
		return err
	}
	return c.show(f, jobs, func(p *term.Page) {
		if len(jobs) == 0 {
			p.Line("No jobs. \"reeve job init\" writes an example, \"reeve job run FILE\" registers it.")
			return
		}
		view.Jobs(p, jobs, c.namespace() == "*")
	})
}

// readJobStatus reads everything that "job status" shows.
func (c *cli) readJobStatus(ctx context.Context, cl *client.Client, prefix string, all bool) (*view.JobStatus, error) {
	id, cl, err := c.resolveJob(ctx, cl, prefix)
	if err != nil {
		return nil, err
	}
	s := &view.JobStatus{}
	jobs := cl.Jobs()
	var errs [6]error
	var plans []*api.Plan
	s.Job, _, errs[0] = jobs.Get(ctx, id, nil)
	s.Summary, _, errs[1] = jobs.Summary(ctx, id, nil)
	s.Allocations, _, errs[2] = jobs.Allocations(ctx, id, all, withResources())
	s.Deployment, _, errs[3] = jobs.LatestDeployment(ctx, id, nil)
	s.Evaluations, _, errs[4] = jobs.Evaluations(ctx, id, nil)
	plans, _, errs[5] = cl.Plans().OfJob(ctx, id, nil)
	if api.CodeOf(errs[5]) == api.CodeNotFound {
		errs[5] = nil // older servers have no plans
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if s.Job.Callback != nil {
		s.Callbacks, _, err = cl.Callbacks().OfJob(ctx, id, nil)
		if err != nil {
			return nil, err
		}
	}
	s.Troubles, _, err = jobs.Troubles(ctx, id, nil)
	if err != nil && api.CodeOf(err) != api.CodeNotFound { // older servers have no troubles
		return nil, err
	}
	pins, _, err := jobs.Images(ctx, id, nil)
	if err != nil && api.CodeOf(err) != api.CodeNotFound { // older servers pin no images
		return nil, err
	}
	s.Images = view.CurrentImages(s.Job, s.Allocations, pins)
	s.ActivePlans, err = keep(plans, plantree.IsUnderWay), nil
	view.NewestFirst(s.Evaluations)
	view.SortAllocations(s.Allocations)
	if view.StartsOthers(s.Job) {
		s.Children, err = readChildren(ctx, cl, id)
	}
	return s, err
}
