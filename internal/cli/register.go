// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// runJob registers a job and follows it, unless detach is set.
func (c *cli) runJob(ctx context.Context, req *api.RegisterJobRequest, detach, wide bool) error {
	cl, err := c.connect()
	if err != nil {
		return err
	}
	if req.Job.Namespace != "" {
		cl = cl.WithNamespace(req.Job.Namespace)
	}
	resp, err := cl.Jobs().Register(ctx, req)
	if err != nil {
		return registerError(err, req)
	}
	c.warn(resp.Warnings)
	if resp.EvalID == "" {
		fmt.Fprintf(c.Stdout, "Registered job %q. %s\n", req.Job.ID, c.startInWords(req.Job))
		return nil
	}
	return c.follow(ctx, cl, req.Job.ID, fmt.Sprintf("Registered job %q", req.Job.ID), resp.EvalID, detach, wide)
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
