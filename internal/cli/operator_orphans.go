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
		short: "List orphans: allocations without a registered job",
		long: `Orphans are running allocations that the servers do not know, because they lost
their state or restored an older one. Register their jobs again: the jobs adopt
orphans that match their specification. The servers stop the other orphans when
their domain becomes fresh.`,
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
