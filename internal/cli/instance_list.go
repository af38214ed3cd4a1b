// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func instanceListCommand(c *cli) *cobra.Command {
	var (
		f            format
		asked        client.InstancesFilter
		domain, node string
	)
	cmd := &cobra.Command{
		Use:   "list [JOB]",
		Short: "List instances: where each is, how it is, and what is done to it",
		Long: `Lists the instances of a job, or of all. UNCLAIMED: nothing holds it; CLAIMED:
placed, not up yet; RUNNING; CRASHED: what held it last has failed; COMPLETE: it
has done its work. One that is RUNNING gets traffic unless its readiness checks
fail. What stands beside an instance has a row of its own: "evacuating" goes on
until another one is up in its place, "suspect" is on a node that is not heard
of, "canary" waits for promotion.`,
		Example: `reeve instance list web
reeve instance list -node 3fa9 -state crashed
reeve instance list -domain billing`,
		Args:              between(0, 1, "JOB"),
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if asked.Job, cl, err = c.resolveJob(cmd.Context(), cl, args[0]); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("domain") {
				asked.Domain = &domain
			}
			if node != "" {
				if asked.Node, err = c.resolveNode(cmd.Context(), cl, node); err != nil {
					return err
				}
			}
			list, _, err := cl.Instances().All(cmd.Context(), asked, nil)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *term.Page) {
				switch {
				case len(list) > 0:
					view.Instances(p, list, asked.Job == "")
				case asked != client.InstancesFilter{Job: asked.Job}:
					p.Line("No instances match.")
				case asked.Job != "":
					p.Line("Job %q has no instances.", asked.Job)
				default:
					p.Line("There are no instances.")
				}
			})
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().StringVar(&domain, "domain", "", "only those of jobs of the domain `NAME`; \"\": of those that name none")
	cmd.Flags().StringVar(&node, "node", "", "only those on the `NODE`")
	cmd.Flags().StringVar(&asked.State, "state", "", "only those that are `STATE`: unclaimed, claimed, running or crashed")
	cmd.Flags().StringVar(&asked.Presence, "presence", "", "only those that are `PRESENCE`: ordinary, evacuating or suspect")
	return cmd
}
