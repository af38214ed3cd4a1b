// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"
)

func aclTokenDeleteCommand(c *cli) *command {
	var asJSON bool
	return &command{
		use:     "delete ACCESSOR",
		short:   "Delete a token: its bearer loses all rights",
		example: "reeve acl token delete 23d41c15",
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&asJSON, "json", false, "print the response as JSON") },
		run: func(r *call) error {
			resp, err := r.cl.ACL().DeleteToken(r.ctx, r.args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.Stdout, resp)
			}
			fmt.Fprintf(c.Stdout, "Deleted token %s.\n", r.args[0])
			return nil
		},
	}
}
