// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func varDeleteCommand(c *cli) *command {
	var asJSON bool
	var cas uint64
	return &command{
		use:     "delete PATH",
		aliases: []string{"purge"},
		short:   "Delete a variable",
		example: "reeve var delete shop/db",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&asJSON, "json", false, "print the response as JSON")
			f.Uint64Var(&cas, "cas", 0, "only if the stored variable has modify index `N`")
		},
		run: func(r *call) error {
			var resp *api.IndexResponse
			var err error
			if r.flags.Changed("cas") {
				resp, err = r.cl.Variables().DeleteAt(r.ctx, r.args[0], cas)
			} else {
				resp, err = r.cl.Variables().Delete(r.ctx, r.args[0])
			}
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.Stdout, resp)
			}
			fmt.Fprintf(c.Stdout, "Variable %q does not exist now.\n", r.args[0])
			return nil
		},
	}
}
