// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "fmt"

func serverLeaveCommand(c *cli) *command {
	return &command{
		use:   "leave SERVER",
		short: "Take a server out of the replicated log",
		long: `Take a server out of the replicated log, before its machine is stopped for a
long time. It remains a member and may join again. A leader transfers leadership
first. A restart needs no leave.`,
		example: "reeve server leave db-3",
		run: func(r *call) error {
			if err := r.handOver(r.args[0]); err != nil {
				return err
			}
			if err := r.cl.Servers().Leave(r.ctx, r.args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Server %s left. Stop its agent.\n", r.args[0])
			return nil
		},
	}
}
