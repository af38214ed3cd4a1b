// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func namespaceListCommand(*cli) *command {
	var q client.QueryOptions
	return &command{
		use:     "list",
		short:   "List namespaces",
		example: "reeve namespace list\nreeve namespace list -filter 'Meta.team == \"web\"'",
		format:  true,
		flags:   func(f *pflag.FlagSet) { addListFlags(f, &q) },
		run: func(r *call) error {
			list, err := listAll(r.ctx, q, r.cl.Namespaces().List)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) { view.Namespaces(p, list) })
		},
	}
}
