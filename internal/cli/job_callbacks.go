// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func jobCallbacksCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "callbacks JOB",
		Short: "List whom a job's end was told, the newest first",
		Args:  exactly(1, "JOB"),
		Example: `reeve job callbacks nightly/dispatch-1750000000-ab12cd34
reeve job callbacks -json import`,
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
			list, _, err := cl.Callbacks().OfJob(cmd.Context(), id, nil)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *page) {
				if len(list) == 0 {
					p.line("Nobody was told of the end of job %q: it has no callback block, or is not over.", id)
					return
				}
				p.callbacks(list)
			})
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}

// callbacks writes a list of callbacks.
func (p *page) callbacks(list []*api.Callback) {
	var rows [][]string
	for _, k := range list {
		state := "-"
		if k.Completion != nil {
			state = p.style.status(k.Completion.State)
		}
		url := "-"
		if k.Target != nil {
			url = k.Target.URL
		}
		rows = append(rows, []string{api.ShortID(k.ID), strconv.FormatUint(k.JobVersion, 10), state, p.callbackStatus(k),
			strconv.Itoa(k.Attempts), dash(k.LastAnswer), url})
	}
	p.table([]string{"ID", "Version", "Job ended", "Callback", "Attempts", "Last answer", "URL"}, rows)
}

// callbackStatus is how far a callback is, and when it goes on.
func (p *page) callbackStatus(k *api.Callback) string {
	switch k.Status {
	case api.CallbackPending:
		if wait := k.NextAttempt.Sub(p.now); wait > 0 && k.Attempts > 0 {
			return p.style.yellow("pending, again in " + shortDuration(wait))
		}
		return p.style.yellow("pending")
	case api.CallbackDelivered:
		return p.style.green(k.Status) + " " + age(p.now, k.EndedAt)
	}
	return p.style.red(k.Status) + " " + age(p.now, k.EndedAt)
}
