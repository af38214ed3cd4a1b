// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclTokenListCommand(*cli) *command {
	var q client.QueryOptions
	return &command{
		use:     "list",
		short:   "List tokens, without their secrets",
		example: "reeve acl token list\nreeve acl token list -filter 'Type == \"management\"'",
		format:  true,
		flags:   func(f *pflag.FlagSet) { addListFlags(f, &q) },
		run: func(r *call) error {
			list, err := listAll(r.ctx, q, r.cl.ACL().Tokens)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No tokens.")
					p.Next("Create one:  reeve acl token create -name NAME -policy POLICY")
					return
				}
				view.ACLTokens(p, list)
			})
		},
	}
}
