// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func instanceListCommand(c *cli) *command {
	var (
		asked        client.InstancesFilter
		domain, node string
	)
	return &command{
		use:   "list [JOB]",
		short: "List instances with their nodes, states and plans",
		long: `List the instances of a job, or of all jobs. States are UNCLAIMED (no
allocation), CLAIMED (placed, but not up), RUNNING, CRASHED (the last allocation
failed) and COMPLETE (the work is done). A RUNNING instance receives traffic
unless its readiness checks fail. Additional allocations of an instance have
their own rows: "evacuating" runs until its replacement is up, "suspect" is on a
silent node, and "canary" waits for promotion.`,
		example: `reeve instance list web
reeve instance list -node 3fa9 -state crashed
reeve instance list -domain billing`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&domain, "domain", "", "list only instances of jobs in the domain `NAME`; \"\" selects jobs without a domain")
			f.StringVar(&node, "node", "", "list only instances on `NODE`")
			f.StringVar(&asked.State, "state", "", "list only instances in `STATE`: unclaimed, claimed, running or crashed")
			f.StringVar(&asked.Presence, "presence", "", "list only instances with `PRESENCE`: ordinary, evacuating or suspect")
		},
		run: func(r *call) error {
			asked.Job = r.arg(0)
			if r.flags.Changed("domain") {
				asked.Domain = &domain
			}
			if node != "" {
				var err error
				if asked.Node, err = c.resolveNode(r.ctx, r.cl, node); err != nil {
					return err
				}
			}
			wanted := asked
			wanted.TaskStates = !r.format.forPeople()
			list, _, err := r.cl.Instances().All(r.ctx, wanted, nil)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				switch {
				case len(list) > 0:
					view.Instances(p, list, asked.Job == "")
				case asked != client.InstancesFilter{Job: asked.Job}:
					p.Line("No instances match.")
				case asked.Job != "":
					p.Line("Job %q has no instances.", asked.Job)
				default:
					p.Line("No instances.")
				}
			})
		},
	}
}
