// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func varGetCommand(c *cli) *command {
	var item string
	return &command{
		use:   "get PATH",
		short: "Show a variable with its values",
		long: `Show a variable with its values. With -item, print one value alone, exactly as
it is stored.`,
		example: "reeve var get shop/db\nreeve var get -item password shop/db",
		format:  true,
		flags:   func(f *pflag.FlagSet) { f.StringVar(&item, "item", "", "print only the value of `KEY`") },
		run: func(r *call) error {
			v, _, err := r.cl.Variables().Get(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			if !r.flags.Changed("item") {
				return r.show(v, func(p *term.Page) { view.Variable(p, v) })
			}
			value, ok := v.Items[item]
			if !ok {
				return api.Errorf(api.CodeNotFound, "variable %s has no key %q; list its keys with: reeve var get %s", v.VariableMetadata.String(), item, v.Path)
			}
			fmt.Fprint(c.Stdout, value)
			if term.IsTerminal(c.Stdout) {
				fmt.Fprintln(c.Stdout)
			}
			return nil
		},
	}
}
