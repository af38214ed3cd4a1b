// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"
)

func aclPolicyDeleteCommand(c *cli) *command {
	var asJSON bool
	return &command{
		use:      "delete NAME",
		short:    "Delete a policy",
		long:     "Delete a policy. Tokens and roles that name it lose its rights immediately.",
		example:  "reeve acl policy delete web-team",
		flags:    func(f *pflag.FlagSet) { f.BoolVar(&asJSON, "json", false, "print the response as JSON") },
		complete: c.completePolicies,
		run: func(r *call) error {
			resp, err := r.cl.ACL().DeletePolicy(r.ctx, r.args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.Stdout, resp)
			}
			fmt.Fprintf(c.Stdout, "Deleted policy %q.\n", r.args[0])
			return nil
		},
	}
}
