// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclPolicyListCommand(*cli) *command {
	var q client.QueryOptions
	return &command{
		use:   "list",
		short: "List policies",
		long: `List all policies. Without a management token, list those of your own token, and
of namespaces in which it has the capability delegate.`,
		example: "reeve acl policy list",
		format:  true,
		flags:   func(f *pflag.FlagSet) { addListFlags(f, &q) },
		run: func(r *call) error {
			list, err := listAll(r.ctx, q, r.cl.ACL().Policies)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No policies.")
					p.Next("Create one:  reeve acl policy apply NAME FILE")
					return
				}
				view.ACLPolicies(p, list)
			})
		},
	}
}
