// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func clusterTokenIntroduceCommand(c *cli) *command {
	var in api.IntroductionRequest
	return &command{
		use:   "introduce",
		short: "Create a join token for a node of one pool",
		long: `Create an introduction token: a join token of nodes that expires, and decides
about the node pool of the machine that joins with it. The configuration of the
machine cannot change the pool, now or later. With -name, the token is for one
machine with that name. Without it, the token is for any number of machines, or
for one with -once. Replacing the join token of nodes ends all such tokens.`,
		example: "reeve cluster token introduce -pool edge -name edge-7\nreeve cluster token introduce -pool edge -ttl 30m | ssh HOST 'reeve agent -join 10.0.0.1 -join-token-file -'",
		format:  true,
		flags: func(flags *pflag.FlagSet) {
			flags.StringVar(&in.NodePool, "pool", "", "node `POOL` of the machine (default: default)")
			flags.StringVar(&in.NodeName, "name", "", "`NAME` of the only machine that may use the token")
			flags.DurationVar(&in.TTL, "ttl", 0, "the token expires after `D`, from 1s to 30m (default 5m)")
			flags.BoolVar(&in.Once, "once", false, "the token admits one machine only")
		},
		check: func(r *call) error {
			if r.flags.Changed("ttl") && (in.TTL < time.Second || in.TTL > api.MaxIntroductionTTL) {
				return usagef("-ttl %s is not from 1s to 30m", in.TTL)
			}
			return nil
		},
		run: func(r *call) error {
			answer, err := r.cl.Cluster().Introduce(r.ctx, &in)
			if err != nil {
				return err
			}
			if r.format.forPeople() && !term.IsTerminal(c.Stdout) {
				fmt.Fprintln(c.Stdout, answer.JWT)
				return nil
			}
			return r.show(answer, func(p *term.Page) {
				p.Line("%s", answer.JWT)
				p.Next("On the machine:  REEVE_JOIN_TOKEN=... reeve agent -join HOST")
			})
		},
	}
}
