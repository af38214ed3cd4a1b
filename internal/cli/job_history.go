// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func jobHistoryCommand(c *cli) *command {
	var (
		diffs   bool
		version uint64
		verbose bool
	)
	return &command{
		use:     "history JOB",
		short:   "List the versions of a job, and their changes",
		example: "reeve job history -p web",
		format:  true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&diffs, "diffs", "p", false, "show the changes of each version")
			f.Uint64Var(&version, "version", 0, "show only version `N`")
			f.BoolVar(&verbose, "verbose", false, "with -p, also show unchanged fields")
		},
		run: func(r *call) error {
			id := r.args[0]
			all, _, err := r.cl.Jobs().Versions(r.ctx, id, diffs, nil)
			if err != nil {
				return err
			}
			if r.flags.Changed("version") {
				if all, err = onlyVersion(all, id, version); err != nil {
					return err
				}
			}
			return r.show(historyValue(all, diffs), func(p *term.Page) {
				p.Complete = verbose
				view.History(p, all)
			})
		},
	}
}

// historyValue returns the history for JSON and templates: the versions, or with diffs
// the whole response.
func historyValue(all *api.JobVersionsResponse, diffs bool) any {
	if diffs {
		return all
	}
	return all.Versions
}

func onlyVersion(all *api.JobVersionsResponse, id string, version uint64) (*api.JobVersionsResponse, error) {
	for i, job := range all.Versions {
		if job.Version != version {
			continue
		}
		one := &api.JobVersionsResponse{Versions: []*api.Job{job}, Index: all.Index}
		if i < len(all.Diffs) {
			one.Diffs = all.Diffs[i : i+1]
		}
		return one, nil
	}
	return nil, api.Errorf(api.CodeNotFound, "job %[2]q has no version %[1]d; \"job history %[3]s\" lists its versions", version, id, id)
}
