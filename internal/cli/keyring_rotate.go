// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func keyringRotateCommand(*cli) *command {
	var full bool
	return &command{
		use:   "rotate",
		short: "Make a new root key active",
		long: `Make a new root key active: it encrypts later writes. With -full, the servers
also encrypt all variables with it, in the background; then the earlier keys can
be deleted.`,
		example: "reeve keyring rotate\nreeve keyring rotate -full",
		format:  true,
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&full, "full", false, "also encrypt all variables with the new key") },
		run: func(r *call) error {
			resp, err := r.cl.Keyring().Rotate(r.ctx, full)
			if err != nil {
				return err
			}
			return r.show(resp, func(p *term.Page) {
				p.Line("Root key %s is active.", api.ShortID(resp.Key.KeyID))
				if full {
					p.Next("Variables are encrypted with it in the background. Follow it:  reeve keyring list")
				}
			})
		},
	}
}
