// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclPolicyInfoCommand(c *cli) *command {
	return &command{
		use:      "info NAME",
		aliases:  []string{"show", "inspect", "status"},
		short:    "Show a policy and its rules",
		example:  "reeve acl policy info web-team\nreeve acl policy info -t '{{.Rules}}' web-team > web-team.hcl",
		format:   true,
		complete: c.completePolicies,
		run: func(r *call) error {
			policy, _, err := r.cl.ACL().Policy(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			return r.show(policy, func(p *term.Page) { view.ACLPolicy(p, policy) })
		},
	}
}
