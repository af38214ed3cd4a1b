// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclTokenInfoCommand(*cli) *command {
	return &command{
		use:     "info ACCESSOR",
		aliases: []string{"show", "inspect", "status"},
		short:   "Show a token, without its secret",
		example: "reeve acl token info 23d41c15",
		format:  true,
		run: func(r *call) error {
			token, _, err := r.cl.ACL().Token(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			return r.show(token, func(p *term.Page) { view.ACLToken(p, token) })
		},
	}
}
