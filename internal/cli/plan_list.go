// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func planListCommand(c *cli) *cobra.Command {
	var (
		f      format
		active bool
		status string
	)
	cmd := &cobra.Command{
		Use:   "list [JOB]",
		Short: "List the plans of a job, or of all jobs",
		Long: `Lists plans with their status and how many of their steps are complete. Plans
without steps are left out, unless -json or -t is given.`,
		Example: `reeve plan list web
reeve plan list -active
reeve plan list -status WAITING -t '{{range .}}{{.JobID}} {{.Name}} {{end}}'`,
		Args:              atMost(1, "JOB"),
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted := api.PlanStatus(strings.ToUpper(status))
			if status != "" && !plantree.IsStatus(wanted) {
				return usagef("-status %q: a plan is one of %s", status, plantree.JoinStatuses(plantree.Statuses))
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			list, err := c.listPlans(cmd.Context(), cl, args, wanted)
			if err != nil {
				return err
			}
			list = keep(list, func(pl *api.Plan) bool {
				return (wanted == "" || pl.Status == wanted) && (!active || plantree.IsUnderWay(pl))
			})
			return c.show(f, list, func(p *term.Page) { view.Plans(p, list, len(args) == 0, c.namespace() == "*") })
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&active, "active", false, "only those that are not complete, and have been started")
	cmd.Flags().StringVar(&status, "status", "", "only those in `STATUS`, as in WAITING")
	return cmd
}

func (c *cli) listPlans(ctx context.Context, cl *client.Client, args []string, status api.PlanStatus) ([]*api.Plan, error) {
	if len(args) == 0 {
		q := client.QueryOptions{}
		if status != "" {
			q.Params = url.Values{"status": {string(status)}}
		}
		return listAll(ctx, q, cl.Plans().List)
	}
	id, cl, err := c.resolvePlans(ctx, cl, args[0])
	if err != nil {
		return nil, err
	}
	list, _, err := cl.Plans().OfJob(ctx, id, nil)
	return list, err
}

// keep returns those of a list that are wanted; never nil.
func keep[T any](list []T, wanted func(T) bool) []T {
	kept := []T{}
	for _, v := range list {
		if wanted(v) {
			kept = append(kept, v)
		}
	}
	return kept
}
