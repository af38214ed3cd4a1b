// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func varListCommand(*cli) *command {
	var q client.QueryOptions
	return &command{
		use:     "list [PREFIX]",
		short:   "List variables, without their values",
		long:    "List the variables whose paths begin with PREFIX. \"-namespace '*'\" lists those\nof all namespaces that you may see.",
		example: "reeve var list\nreeve var list nomad/jobs/",
		format:  true,
		flags:   func(f *pflag.FlagSet) { addListFlags(f, &q) },
		run: func(r *call) error {
			q := q
			q.Prefix = r.arg(0)
			list, err := listAll(r.ctx, q, r.cl.Variables().List)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				view.Variables(p, list)
				if len(list) == 0 {
					p.Next("Store one:  reeve var put PATH KEY=@FILE")
				}
			})
		},
	}
}
