// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func keyringListCommand(*cli) *command {
	var q client.QueryOptions
	return &command{
		use:     "list",
		short:   "List the root keys, with their problems",
		example: "reeve keyring list",
		format:  true,
		flags:   func(f *pflag.FlagSet) { addListFlags(f, &q) },
		run: func(r *call) error {
			list, err := listAll(r.ctx, q, r.cl.Keyring().List)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				view.RootKeys(p, list)
				for _, k := range list {
					if k.Recovery == "" {
						p.Next("Without a recovery key, variables are lost with the machines of the servers.\nCreate one:  reeve keyring recovery-key")
						break
					}
				}
			})
		},
	}
}
