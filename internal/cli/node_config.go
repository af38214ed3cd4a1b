// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

func nodeConfigCommand(c *cli) *command {
	var servers, update bool
	return &command{
		use:   "config [ADDRESS...]",
		short: "Show or replace the servers that a node's agent knows",
		long: `Show the addresses of the servers that the contacted agent knows, or replace
those of a node's agent. Each address must prove to be a server of the cluster;
otherwise nothing changes. The agent connects to one of them, learns the
others, and remembers them over a restart. Use it if all servers moved while
the node was cut off.`,
		example: "reeve node config -servers\nreeve node config -update-servers 10.0.0.4 10.0.0.5:4646",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&servers, "servers", false, "show the servers; the default")
			f.BoolVar(&update, "update-servers", false, "replace the servers with the addresses")
		},
		check: func(r *call) error {
			switch {
			case servers && update:
				return usagef("choose either -servers or -update-servers")
			case update && len(r.args) == 0:
				return usagef("-update-servers needs the ADDRESS of a server, as HOST or HOST:PORT")
			case !update && len(r.args) > 0:
				return usagef("set -update-servers to replace the servers with %s", strings.Join(r.args, " "))
			}
			return nil
		},
		run: func(r *call) error {
			if update {
				if err := r.cl.Status().SetServers(r.ctx, r.args); err != nil {
					return err
				}
			}
			known, err := r.cl.Status().KnownServers(r.ctx)
			if err != nil {
				return err
			}
			for _, address := range known {
				fmt.Fprintln(c.Stdout, address)
			}
			return nil
		},
	}
}
