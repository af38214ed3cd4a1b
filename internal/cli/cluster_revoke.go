// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func clusterRevokeCommand(c *cli) *command {
	var reason string
	return &command{
		use:   "revoke NODE",
		short: "Exclude a node from the cluster immediately",
		long: `Exclude a node: its certificate is no longer accepted. Its tasks continue to run
until you stop the machine, and their jobs replace them elsewhere. To exclude a
server, use "reeve server remove".`,
		example: "reeve cluster revoke 5f3e -reason stolen",
		flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "record `TEXT` with the removal") },
		confirm: func(r *call) (string, error) {
			return fmt.Sprintf("Exclude node %s permanently?", api.ShortID(r.args[0])), nil
		},
		run: func(r *call) error {
			if err := r.cl.Cluster().Revoke(r.ctx, r.args[0], reason); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Node %s is no longer a member of the cluster.\n", api.ShortID(r.args[0]))
			return nil
		},
	}
}

func clusterRevocationsCommand(*cli) *command {
	return &command{
		use:     "revocations",
		short:   "List the excluded members",
		example: "reeve cluster revocations",
		format:  true,
		run: func(r *call) error {
			list, _, err := r.cl.Cluster().Revocations(r.ctx, nil)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No members are excluded.")
					return
				}
				var rows [][]string
				for _, m := range list {
					rows = append(rows, []string{api.ShortID(m.ID), human.Dash(m.Name), human.NanosAge(r.Now(), m.Time), m.Reason})
				}
				p.Table([]string{"ID", "Name", "Removed", "Reason"}, rows)
			})
		},
	}
}
