// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"
)

func serverRemoveCommand(c *cli) *command {
	var reason string
	return &command{
		use:   "remove SERVER",
		short: "Remove a server permanently",
		long: `Remove a server that is lost or compromised: its certificate is no longer
accepted. To add its machine again, delete its data directory and join with a
token. A leader transfers leadership first.`,
		example: "reeve server remove db-3 -reason 'its disk failed'",
		strict:  true,
		flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why the server is removed") },
		confirm: func(r *call) (string, error) {
			return fmt.Sprintf("Remove server %s permanently?", r.args[0]), nil
		},
		run: func(r *call) error {
			if err := r.handOver(r.args[0]); err != nil {
				return err
			}
			if err := r.cl.Servers().Remove(r.ctx, r.args[0], reason); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Removed server %s.\n", r.args[0])
			return nil
		},
	}
}
