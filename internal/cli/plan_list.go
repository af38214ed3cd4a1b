// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
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
			if status != "" && !isPlanStatus(wanted) {
				return usagef("-status %q: a plan is one of %s", status, joinStatuses(planStatuses))
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
				return (wanted == "" || pl.Status == wanted) && (!active || isUnderWay(pl))
			})
			return c.show(f, list, func(p *page) { p.plans(list, len(args) == 0, c.namespace() == "*") })
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

// plans writes a list of plans.
func (p *page) plans(list []*api.Plan, ofAllJobs, namespaces bool) {
	var heading []string
	if ofAllJobs {
		heading = append(heading, "Job")
	}
	heading = append(heading, "Plan", "Status", "Done", "For", "Waits for")
	if namespaces {
		heading = append(heading, "Namespace")
	}
	var rows [][]string
	for _, pl := range list {
		if pl.Total == 0 && pl.Status == api.PlanComplete {
			continue
		}
		var row []string
		if ofAllJobs {
			row = append(row, pl.JobID)
		}
		row = append(row, pl.Name, p.style.planStatus(pl.Status), planProgress(pl.Completed, pl.Total), inState(p.now, pl.Since), dash(planMessage(p.now, pl)))
		if namespaces {
			row = append(row, pl.Namespace)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		p.line("No plan has anything to do.")
		return
	}
	p.table(heading, rows)
	if pl := worthFollowing(list); pl != nil {
		p.next(fmt.Sprintf("Follow it:  reeve plan show -watch%s %s %s", namespaceFlag(pl), shellQuote(pl.JobID), shellQuote(pl.Name)))
	}
}

// worthFollowing is the first plan that moves by itself, else the first that is
// under way; nil if none is.
func worthFollowing(list []*api.Plan) *api.Plan {
	var first *api.Plan
	for _, pl := range list {
		switch {
		case !isUnderWay(pl):
		case pl.Status != api.PlanWaiting && pl.Status != api.PlanError:
			return pl
		case first == nil:
			first = pl
		}
	}
	return first
}

// activePlans writes what is being done to a job, and where to look.
func (p *page) activePlans(list []*api.Plan) {
	if len(list) == 0 {
		return
	}
	p.section("Plans")
	var rows [][]string
	for _, pl := range list {
		rows = append(rows, []string{pl.Name, p.style.planStatus(pl.Status), planProgress(pl.Completed, pl.Total), dash(planMessage(p.now, pl)), p.style.dim(showCommand(pl))})
	}
	p.table([]string{"Plan", "Status", "Done", "Waits for", "The whole of it"}, rows)
}

// showCommand shows the whole of a plan.
func showCommand(pl *api.Plan) string {
	return "reeve plan show" + namespaceFlag(pl) + " " + shellQuote(pl.JobID) + " " + shellQuote(pl.Name)
}

// planMessage says what a plan waits for, and until when.
func planMessage(now time.Time, pl *api.Plan) string {
	switch {
	case pl.Message != "" || !pl.Until.IsZero():
		return untilToo(now, pl.Message, pl.Until)
	case len(pl.Errors) > 0:
		return pl.Errors[0]
	case isUnstarted(pl):
		return "an operator starts it"
	}
	return ""
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
