// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func instanceKillCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "kill JOB INSTANCE",
		Short: "Stop what holds an instance; it comes straight back",
		Long: `Stops the allocation that holds an instance: it gets no more traffic, waits
its shutdown_delay, and is ended. What should run stays the same, so another
allocation takes its place at once. One that is CRASHED is tried again now, and
one that is UNCLAIMED is looked at again.

INSTANCE is a name such as web-0 or, if the job has one group, a number.`,
		Example:           "reeve instance kill web 0",
		Args:              between(1, 2, "JOB", "INSTANCE"),
		ValidArgsFunction: c.completeInstances(),
		Annotations:       map[string]string{annotationExitCodes: instanceVerbExitCodes},
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			job, cl, err := c.resolveJob(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return c.whichInstance(cmd.Context(), cl, job)
			}
			resp, err := cl.Instances().Kill(cmd.Context(), job, args[1])
			if err != nil {
				return err
			}
			return c.show(f, resp, func(p *term.Page) {
				switch i := resp.Killed; {
				case i.Allocation == "":
					p.Line("%s of job %q is not held by anything; it is looked at again.", i.Name, job)
				case i.State == api.InstanceCrashed:
					p.Line("%s of job %q is tried again now.", i.Name, job)
				default:
					p.Line("%s of job %q is killed: allocation %s. Another one takes its place.", i.Name, job, api.ShortID(i.Allocation))
				}
				p.Next("Look at it:  reeve instance show " + human.ShellQuote(job) + " " + human.ShellQuote(resp.Killed.Name))
			})
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}
