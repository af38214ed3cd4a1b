// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func serverListCommand(c *cli) *command {
	return &command{
		use:     "list",
		short:   "List servers",
		long:    "List the servers of the cluster, with their health in the leader's view.",
		example: "reeve server list",
		format:  true,
		run: func(r *call) error {
			list, err := r.cl.Servers().List(r.ctx)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) { view.Servers(p, list, c.Now()) })
		},
	}
}
