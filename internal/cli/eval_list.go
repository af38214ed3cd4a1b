// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func evalListCommand(c *cli) *command {
	var (
		job    string
		status string
		q      client.QueryOptions
	)
	return &command{
		use:   "list",
		short: "List evaluations, newest first",
		example: `reeve eval list -job web
reeve eval list -status blocked`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&job, "job", "", "list only evaluations of `JOB`")
			f.StringVar(&status, "status", "", "list only evaluations with `STATUS`: pending, blocked, complete, failed or canceled")
			addListFlags(f, &q)
		},
		run: func(r *call) error {
			q.Filter = evalFilter(q.Filter, job, status)
			list, err := listAll(r.ctx, q, r.cl.Evaluations().List)
			if err != nil {
				return err
			}
			view.NewestFirst(list)
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No evaluations.")
					return
				}
				view.Evaluations(p, list)
			})
		},
	}
}

// addListFlags adds the flags that filter and page a list.
func addListFlags(f *pflag.FlagSet, q *client.QueryOptions) {
	f.StringVar(&q.Filter, "filter", "", "list only objects that match `EXPRESSION`, such as 'JobID == \"web\"'")
	f.IntVar(&q.PerPage, "per-page", 0, "list at most `N` objects")
	f.StringVar(&q.NextToken, "page-token", "", "start with the page of `TOKEN`")
}

// evalFilter combines the conditions of a list.
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
