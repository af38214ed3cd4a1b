// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func serverTransferCommand(c *cli) *command {
	var asJSON bool
	return &command{
		use:   "transfer [SERVER]",
		short: "Transfer leadership to another server",
		long: `Transfer leadership to a server, or to the voter with the most complete log.
Requests wait for some milliseconds.`,
		example: "reeve server transfer\nreeve server transfer db-2",
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&asJSON, "json", false, "print the response as JSON") },
		run: func(r *call) error {
			res, err := r.cl.Servers().Transfer(r.ctx, r.arg(0))
			if err != nil {
				return err
			}
			switch to := cmp.Or(known(res.To.Node), res.To.ID); {
			case asJSON:
				return writeJSON(c.Stdout, res)
			case res.Noop:
				fmt.Fprintf(c.Stdout, "Server %s leads already.\n", to)
			case to == "":
				return api.Errorf(api.CodeUnavailable, "the leader stepped down, and no other server leads yet: see reeve server list")
			default:
				fmt.Fprintf(c.Stdout, "Server %s leads.\n", to)
			}
			return nil
		},
	}
}

// known returns a server's name, or "" for the word of servers without a name.
func known(name string) string {
	if name == "(unknown)" {
		return ""
	}
	return name
}
