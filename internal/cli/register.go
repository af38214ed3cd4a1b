// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// runJob registers a job and follows it, unless -detach is set.
func (r *call) runJob(req *api.RegisterJobRequest) (err error) {
	if r.cl, err = r.connect(); err != nil {
		return err
	}
	if req.Job.Namespace != "" {
		r.cl = r.cl.WithNamespace(req.Job.Namespace)
	}
	resp, err := r.cl.Jobs().Register(r.ctx, req)
	if err != nil {
		return registerError(err, req)
	}
	r.warn(resp.Warnings)
	defer func() {
		if r.ctx.Err() == nil {
			r.sayUI(r.ctx, r.cl, req.Job.ID)
		}
	}()
	if resp.EvalID == "" {
		fmt.Fprintf(r.Stdout, "Registered job %q. %s\n", req.Job.ID, r.startInWords(req.Job))
		return nil
	}
	return r.followJob(req.Job.ID, fmt.Sprintf("Registered job %q", req.Job.ID), resp.EvalID)
}

// startInWords describes what starts the instances of a periodic or parameterized job.
func (c *cli) startInWords(j *api.Job) string {
	if j.IsParameterized() {
		return fmt.Sprintf("No instance runs yet: \"reeve job dispatch %s\" starts it.", view.JobArgs(j.Namespace, j.ID))
	}
	return fmt.Sprintf("No instance runs yet. Next start: %s.", view.NextStart(c.Now(), j))
}

// registerError adds advice to the error of a failed check-and-set.
func registerError(err error, req *api.RegisterJobRequest) error {
	if req.EnforceIndex && api.CodeOf(err) == api.CodeConflict {
		return fmt.Errorf("%w\nThe job has changed since the plan: run \"job plan\" again", err)
	}
	return err
}
