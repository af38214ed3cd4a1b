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
		short: "Show who offers a service now, and where",
		example: `reeve service info web
reeve service info -tag blue -choose '1|client-17' web`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			addListFlags(f, &q)
			f.StringArrayVar(&tags, "tag", nil, "only those with `TAG`; several times: with all of them")
			f.StringVar(&choose, "choose", "", "only some of them, as `'N|KEY'`: the same for a key as long as they are there")
			f.BoolVar(&wide, "verbose", false, "show whole ids")
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
					p.Line("Nobody offers service %q now.", r.args[0])
					return
				}
				view.Registrations(p, list, wide)
			})
		},
	}
}
