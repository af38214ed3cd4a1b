// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclRoleUpdateCommand(*cli) *command {
	var f roleFlags
	return &command{
		use:   "update ROLE",
		short: "Change a role",
		long: `Change the settings of the given flags. The flags -policy together replace all
policies of the role. Its tokens have the new rights immediately.`,
		example: "reeve acl role update -policy web-team -policy read-nodes web-dev",
		format:  true,
		flags:   f.addTo,
		check: func(r *call) error {
			if !r.flags.Changed("name") && !r.flags.Changed("description") && !r.flags.Changed("policy") {
				return usagef("nothing to change: set -name, -description or -policy")
			}
			return nil
		},
		run: func(r *call) error {
			role, _, err := r.cl.ACL().Role(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			f.apply(r.flags, role)
			if err := role.Validate(); err != nil {
				return err
			}
			changed, err := r.cl.ACL().UpdateRole(r.ctx, role)
			if err != nil {
				return err
			}
			return r.show(changed, func(p *term.Page) { view.ACLRole(p, changed) })
		},
	}
}
