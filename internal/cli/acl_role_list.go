// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclRoleListCommand(*cli) *command {
	var q client.QueryOptions
	return &command{
		use:     "list",
		short:   "List roles",
		example: "reeve acl role list",
		format:  true,
		flags:   func(f *pflag.FlagSet) { addListFlags(f, &q) },
		run: func(r *call) error {
			list, err := listAll(r.ctx, q, r.cl.ACL().Roles)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No roles.")
					p.Next("Create one:  reeve acl role create -name NAME -policy POLICY")
					return
				}
				view.ACLRoles(p, list)
			})
		},
	}
}
