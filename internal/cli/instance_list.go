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
		short: "List instances: where each is, how it is, and what is done to it",
		long: `Lists the instances of a job, or of all. UNCLAIMED: nothing holds it; CLAIMED:
placed, not up yet; RUNNING; CRASHED: what held it last has failed; COMPLETE: it
has done its work. One that is RUNNING gets traffic unless its readiness checks
fail. What stands beside an instance has a row of its own: "evacuating" goes on
until another one is up in its place, "suspect" is on a node that is not heard
of, "canary" waits for promotion.`,
		example: `reeve instance list web
reeve instance list -node 3fa9 -state crashed
reeve instance list -domain billing`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&domain, "domain", "", "only those of jobs of the domain `NAME`; \"\": of those that name none")
			f.StringVar(&node, "node", "", "only those on the `NODE`")
			f.StringVar(&asked.State, "state", "", "only those that are `STATE`: unclaimed, claimed, running or crashed")
			f.StringVar(&asked.Presence, "presence", "", "only those that are `PRESENCE`: ordinary, evacuating or suspect")
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
			list, _, err := r.cl.Instances().All(r.ctx, asked, nil)
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
					p.Line("There are no instances.")
				}
			})
		},
	}
}
