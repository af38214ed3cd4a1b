// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func evalListCommand(c *cli) *cobra.Command {
	var (
		f      format
		job    string
		status string
		q      client.QueryOptions
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List evaluations, the newest first",
		Args:  exactly(0, ""),
		Example: `reeve eval list -job web
reeve eval list -status blocked`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			q.Filter = evalFilter(q.Filter, job, status)
			list, err := listAll(cmd.Context(), q, cl.Evaluations().List)
			if err != nil {
				return err
			}
			view.NewestFirst(list)
			return c.show(f, list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No evaluations.")
					return
				}
				view.Evaluations(p, list)
			})
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().StringVar(&job, "job", "", "only those of `JOB`")
	cmd.Flags().StringVar(&status, "status", "", "only those with `STATUS`: pending, blocked, complete, failed or canceled")
	addListFlags(cmd, &q)
	return cmd
}

// addListFlags gives a list the flags that limit it.
func addListFlags(cmd *cobra.Command, q *client.QueryOptions) {
	cmd.Flags().StringVar(&q.Filter, "filter", "", "only what matches `EXPRESSION`, as in 'JobID == \"web\"'")
	cmd.Flags().IntVar(&q.PerPage, "per-page", 0, "at most `N`")
	cmd.Flags().StringVar(&q.NextToken, "page-token", "", "begin with the page of `TOKEN`")
}

// evalFilter joins the conditions of a list.
func evalFilter(filter, job, status string) string {
	var all []string
	if filter != "" {
		all = append(all, "("+filter+")")
	}
	if job != "" {
		all = append(all, fmt.Sprintf("JobID == %q", job))
	}
	if status != "" {
		all = append(all, fmt.Sprintf("Status == %q", status))
	}
	return strings.Join(all, " and ")
}
