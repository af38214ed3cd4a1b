// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclPolicySelfCommand(*cli) *command {
	return &command{
		use:     "self",
		short:   "List the policies of your token",
		long:    "List the policies of your token, also those of its roles.",
		example: "reeve acl policy self",
		format:  true,
		run: func(r *call) error {
			list, _, err := r.cl.ACL().OwnPolicies(r.ctx, nil)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No policies. Operators and management tokens need none: they may do everything.")
					return
				}
				var stubs []*api.ACLPolicyListStub
				for _, policy := range list {
					stubs = append(stubs, policy.Stub())
				}
				view.ACLPolicies(p, stubs)
			})
		},
	}
}
