// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"sort"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func deploymentListCommand(c *cli) *command {
	var q client.QueryOptions
	return &command{
		use:    "list",
		short:  "List deployments, newest first",
		format: true,
		flags: func(f *pflag.FlagSet) {
			addListFlags(f, &q)
		},
		run: func(r *call) error {
			list, err := listAll(r.ctx, q, r.cl.Deployments().List)
			if err != nil {
				return err
			}
			sort.SliceStable(list, func(i, j int) bool { return list[i].CreateIndex > list[j].CreateIndex })
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No deployments.")
					return
				}
				view.Deployments(p, list)
			})
		},
	}
}
