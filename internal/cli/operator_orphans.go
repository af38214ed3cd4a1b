// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func operatorOrphansCommand(c *cli) *command {
	var q client.QueryOptions
	return &command{
		use:   "orphans",
		short: "List what runs although no registered job is known to want it",
		long: `Orphans are allocations that run on a node and that the servers had never known:
they lost what they knew, or it was put back to an older state. Register the
jobs again, and those that run what the jobs say are taken over as they are.
What is left stops when its domain is marked as fresh.`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			addListFlags(f, &q)
		},
		run: func(r *call) error {
			list, err := listAll(r.ctx, q, r.cl.Domains().Orphans)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No orphans.")
					return
				}
				view.Orphans(p, list)
			})
		},
	}
}
