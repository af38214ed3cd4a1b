// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclTokenSelfCommand(*cli) *command {
	return &command{
		use:     "self",
		short:   "Show your token, without its secret",
		example: "reeve acl token self",
		format:  true,
		run: func(r *call) error {
			token, _, err := r.cl.ACL().OwnToken(r.ctx, nil)
			if err != nil {
				return err
			}
			return r.show(token, func(p *term.Page) { view.ACLToken(p, token) })
		},
	}
}
