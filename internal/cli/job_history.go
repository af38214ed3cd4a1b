// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func jobHistoryCommand(c *cli) *cobra.Command {
	var (
		f       format
		diffs   bool
		version uint64
		verbose bool
	)
	cmd := &cobra.Command{
		Use:               "history JOB",
		Short:             "List a job's versions, and what each one changed",
		Args:              exactly(1, "JOB"),
		Example:           "reeve job history -p web",
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, cl, err := c.resolveJob(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			all, _, err := cl.Jobs().Versions(cmd.Context(), id, diffs, nil)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("version") {
				if all, err = onlyVersion(all, id, version); err != nil {
					return err
				}
			}
			return c.show(f, historyValue(all, diffs), func(p *term.Page) {
				p.Complete = verbose
				view.History(p, all)
			})
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().BoolVarP(&diffs, "diffs", "p", false, "show what each version changed")
	cmd.Flags().Uint64Var(&version, "version", 0, "show only version `N`")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "with -p, show also what did not change")
	return cmd
}

// historyValue is the history for machines: the versions, and with diffs all
// that the API returned.
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
	return nil, api.Errorf(api.CodeNotFound, "version %d of job %q is not kept; \"job history %s\" lists those that are", version, id, id)
}
