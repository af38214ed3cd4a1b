// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func jobRestartsCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:               "restarts JOB",
		Short:             "List a job's rolling restarts, the newest first",
		Args:              exactly(1, "JOB"),
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
			list, _, err := cl.Restarts().OfJob(cmd.Context(), id, nil)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *page) { p.restarts(id, list) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}

// restarts writes a list of restarts.
func (p *page) restarts(job string, list []*api.JobRestart) {
	if len(list) == 0 {
		p.line("Job %q was not restarted lately.", job)
		p.next("Restart it:  reeve job restart " + shellQuote(job))
		return
	}
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{api.ShortID(r.ID), p.restartStatus(r.Status), strconv.Itoa(len(r.RestartedAllocs)),
			p.alarming(len(r.UnhealthyAllocs)), strconv.Itoa(r.BatchSize), dash(r.By), age(p.now, r.StartedAt), dash(cmp.Or(r.StatusDescription, r.Reason))})
	}
	p.table([]string{"ID", "Status", "Restarted", "Unhealthy", "Batch", "By", "Started", "Description"}, rows)
	for _, r := range list {
		if r.IsActive() {
			p.next(restartNext(r)...)
			return
		}
	}
}

// restartStatus colours a status; running is not the end yet.
func (p *page) restartStatus(status string) string {
	switch status {
	case api.RestartComplete:
		return p.style.green(status)
	case api.RestartFailed:
		return p.style.red(status)
	case api.RestartPaused:
		return p.style.yellow(status)
	}
	return p.style.cyan(status)
}
