// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclTokenUpdateCommand(*cli) *command {
	var f tokenFlags
	return &command{
		use:   "update ACCESSOR",
		short: "Change the name, policies and roles of a token",
		long: `Change the settings of the given flags immediately. The flags -policy together
replace all policies of the token, -role-name and -role-id all its roles. The
secret, the type and the expiry stay the same.`,
		example: "reeve acl token update -policy web-team -policy read-nodes 23d41c15",
		format:  true,
		flags:   f.addTo,
		check: func(r *call) error {
			if !r.flags.Changed("name") && !f.links() {
				return usagef("nothing to change: set -name, -policy, -role-name or -role-id")
			}
			return nil
		},
		run: func(r *call) error {
			token, _, err := r.cl.ACL().Token(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			if r.flags.Changed("name") {
				token.Name = f.name
			}
			if len(f.policies) > 0 {
				token.Policies = f.policies
			}
			if roles := f.roles(); roles != nil {
				token.Roles = roles
			}
			changed, err := r.cl.ACL().UpdateToken(r.ctx, token)
			if err != nil {
				return err
			}
			return r.show(changed, func(p *term.Page) { view.ACLToken(p, changed) })
		},
	}
}
