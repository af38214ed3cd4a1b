// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclRoleInfoCommand(*cli) *command {
	return &command{
		use:     "info ROLE",
		aliases: []string{"show", "inspect", "status"},
		short:   "Show a role",
		example: "reeve acl role info web-dev",
		format:  true,
		run: func(r *call) error {
			role, _, err := r.cl.ACL().Role(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			return r.show(role, func(p *term.Page) { view.ACLRole(p, role) })
		},
	}
}
