// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"
)

func aclRoleDeleteCommand(c *cli) *command {
	var asJSON bool
	return &command{
		use:     "delete ROLE",
		short:   "Delete a role",
		long:    "Delete a role. Tokens that name it lose its rights immediately.",
		example: "reeve acl role delete web-dev",
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&asJSON, "json", false, "print the response as JSON") },
		run: func(r *call) error {
			resp, err := r.cl.ACL().DeleteRole(r.ctx, r.args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.Stdout, resp)
			}
			fmt.Fprintf(c.Stdout, "Deleted role %q.\n", r.typed[0])
			return nil
		},
	}
}
