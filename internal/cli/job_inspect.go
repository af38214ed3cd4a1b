// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func jobInspectCommand(c *cli) *command {
	var (
		version uint64
		source  bool
	)
	return &command{
		use:   "inspect JOB",
		short: "Print a stored job, or its source text",
		long: `Print a job as JSON, with all defaults, in the format that "job run -json"
reads. With -hcl, print the text of the file that registered the version.`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.Uint64Var(&version, "version", 0, "print version `N` instead of the current version")
			f.BoolVar(&source, "hcl", false, "print the text of the file that registered the version")
		},
		run: func(r *call) error {
			id := r.args[0]
			job, err := jobVersion(r.ctx, r.cl, id, version, r.flags.Changed("version"))
			if err != nil {
				return err
			}
			if source {
				return c.printSource(r.ctx, r.cl, job)
			}
			if r.format.template != "" {
				return r.show(job, nil)
			}
			return writeJSON(c.Stdout, map[string]*api.Job{"Job": job})
		},
	}
}

// jobVersion returns the chosen version of a job, or the current one.
func jobVersion(ctx context.Context, cl *client.Client, id string, version uint64, chosen bool) (*api.Job, error) {
	if !chosen {
		job, _, err := cl.Jobs().Get(ctx, id, nil)
		return job, err
	}
	all, _, err := cl.Jobs().Versions(ctx, id, false, nil)
	if err != nil {
		return nil, err
	}
	var kept []string
	for _, job := range all.Versions {
		if job.Version == version {
			return job, nil
		}
		kept = append(kept, fmt.Sprint(job.Version))
	}
	return nil, api.Errorf(api.CodeNotFound, "job %q has no version %d; its versions are %s", id, version, strings.Join(kept, ", "))
}

func (c *cli) printSource(ctx context.Context, cl *client.Client, job *api.Job) error {
	s, _, err := cl.Jobs().Submission(ctx, job.ID, job.Version, nil)
	if api.CodeOf(err) == api.CodeNotFound || (err == nil && (s == nil || s.Source == "")) {
		return api.Errorf(api.CodeNotFound, "version %d of job %q has no source text", job.Version, job.ID)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.Stdout, strings.TrimRight(s.Source, "\n")+"\n")
	return err
}
