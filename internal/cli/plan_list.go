// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func planListCommand(c *cli) *command {
	var (
		active bool
		status string
		wanted api.PlanStatus
	)
	return &command{
		use:   "list [JOB]",
		short: "List the plans of a job, or of all jobs",
		long: `List plans with their status and progress. Plans without steps are omitted,
unless -json or -t is set.`,
		example: `reeve plan list web
reeve plan list -active
reeve plan list -status WAITING -t '{{range .}}{{.JobID}} {{.Name}} {{end}}'`,
		format:  true,
		removed: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&active, "active", false, "list only plans that have started and are not complete")
			f.StringVar(&status, "status", "", "list only plans with `STATUS`, such as WAITING")
		},
		check: func(r *call) error {
			wanted = api.PlanStatus(strings.ToUpper(status))
			if status != "" && !plantree.IsStatus(wanted) {
				return usagef("-status %q is not one of %s", status, plantree.JoinStatuses(plantree.Statuses))
			}
			return nil
		},
		run: func(r *call) error {
			list, err := c.listPlans(r.ctx, r.cl, r.args, wanted)
			if err != nil {
				return err
			}
			list = keep(list, func(pl *api.Plan) bool {
				return (wanted == "" || pl.Status == wanted) && (!active || plantree.IsUnderWay(pl))
			})
			return r.show(list, func(p *term.Page) { view.Plans(p, list, len(r.args) == 0, c.namespace() == "*") })
		},
	}
}

func (c *cli) listPlans(ctx context.Context, cl *client.Client, args []string, status api.PlanStatus) ([]*api.Plan, error) {
	if len(args) == 0 {
		q := client.QueryOptions{}
		if status != "" {
			q.Params = url.Values{"status": {string(status)}}
		}
		return listAll(ctx, q, cl.Plans().List)
	}
	list, _, err := cl.Plans().OfJob(ctx, args[0], nil)
	return list, err
}

// keep returns the matching elements of a list; never nil.
func keep[T any](list []T, wanted func(T) bool) []T {
	kept := []T{}
	for _, v := range list {
		if wanted(v) {
			kept = append(kept, v)
		}
	}
	return kept
}
