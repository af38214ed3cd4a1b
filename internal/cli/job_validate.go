// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func jobValidateCommand(c *cli) *command {
	var file jobFile
	return &command{
		use:   "validate FILE",
		short: "Check a job file without registering it",
		long: `Validate a job file ("-" is stdin), and report all errors with file, line and
column. If a server is reachable, it also validates the job.`,
		exitCodes: "0  the file is valid\n1  the file is not valid, or could not be read",
		complete:  completeJobFiles,
		flags: func(f *pflag.FlagSet) {
			file.addTo(f)
		},
		offline: true,
		run: func(r *call) error {
			in, err := file.load(c, r.args[0])
			if cl, failed := c.connect(); err != nil && in != nil && failed == nil {
				return refuseFiles(r.ctx, cl, []*loaded{in}, []error{err})
			}
			if err != nil {
				return err
			}
			return in.explain(c.validateJob(r.ctx, in.job))
		},
	}
}

func (c *cli) validateJob(ctx context.Context, job *api.Job) error {
	checked := job.Copy()
	checked.Canonicalize()
	if err := checked.Validate(); err != nil {
		return err
	}
	if refused := api.Unsupported(checked); len(refused) > 0 {
		return &api.Error{Code: api.CodeInvalid, Message: "the job uses features that Reeve does not support", Detail: refused}
	}
	if done, err := c.validateOnServer(ctx, job); err != nil {
		return err
	} else if !done {
		c.warn(strings.Join(checked.Warnings(), "\n"))
		fmt.Fprintln(c.Stderr, "No server answers: validated locally only.")
	}
	fmt.Fprintf(c.Stdout, "%s\n", c.stdoutStyle().Green(fmt.Sprintf("Job %q is valid.", job.ID)))
	return nil
}

// validateOnServer lets a server validate the job. It reports whether a server
// responded.
func (c *cli) validateOnServer(ctx context.Context, job *api.Job) (bool, error) {
	cl, err := c.connect()
	if err != nil {
		return false, err
	}
	resp, err := cl.Jobs().Validate(ctx, job)
	switch {
	case api.CodeOf(err) == api.CodeUnavailable:
		return false, nil
	case err != nil:
		return false, err
	case len(resp.ValidationErrors) > 0:
		return true, &api.Error{Code: api.CodeInvalid, Message: "the job is not valid", Detail: resp.ValidationErrors}
	case resp.Error != "":
		return true, errors.New(resp.Error)
	}
	c.warn(resp.Warnings)
	return true, nil
}
