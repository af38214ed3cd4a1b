// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func serviceInfoCommand(c *cli) *command {
	var (
		q      client.QueryOptions
		tags   []string
		choose string
		wide   bool
	)
	return &command{
		use:   "info SERVICE",
		short: "List the instances and addresses of a service",
		example: `reeve service info web
reeve service info -tag blue -choose '1|client-17' web`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			addListFlags(f, &q)
			f.StringArrayVar(&tags, "tag", nil, "list only instances with `TAG`; repeat for instances with all tags")
			f.StringVar(&choose, "choose", "", "choose `'N|KEY'`: N instances, always the same for a KEY while they are routable")
			f.BoolVar(&wide, "verbose", false, "show full ids")
		},
		run: func(r *call) error {
			q.Params = map[string][]string{}
			for _, tag := range tags {
				q.Params.Add("tag", tag)
			}
			if choose != "" {
				q.Params.Set("choose", choose)
			}
			list, _, err := r.cl.Services().Get(r.ctx, r.args[0], &q)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("Service %q has no routable instances.", r.args[0])
					return
				}
				view.Registrations(p, list, wide)
			})
		},
	}
}
