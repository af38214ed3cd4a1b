// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// exitRefused is the exit code of "acl explain" if the token may not do it.
const exitRefused = 2

func aclExplainCommand(*cli) *command {
	var ask client.ACLQuestion
	return &command{
		use:   "explain CAPABILITY",
		short: "Explain whether a token may do something",
		long: `Explain whether a token has a capability, and which rule of which policy
decides. The token is yours, or the one of -accessor, which needs a management
token. The object is the namespace of -namespace, and for variables also -path;
for node pools and host volumes it is -name.`,
		example: `reeve acl explain -namespace web submit-job
reeve acl explain -accessor 23d41c15 -namespace web submit-job
reeve acl explain -name gpu node_pool:write`,
		exitCodes: "0  allowed\n1  failed; stderr has the reason\n2  refused",
		format:    true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&ask.Accessor, "accessor", "", "explain the token with the accessor `ID`, or its beginning")
			f.StringVar(&ask.Path, "path", "", "`PATH` of a variable")
			f.StringVar(&ask.Name, "name", "", "`NAME` of a node pool or a host volume")
		},
		run: func(r *call) error {
			ask.Capability = r.args[0]
			if ask.Accessor != "" {
				var err error
				if ask.Accessor, err = r.resolveToken(r.ctx, r.cl, ask.Accessor); err != nil {
					return err
				}
			}
			decision, _, err := r.cl.ACL().Explain(r.ctx, ask, nil)
			if err != nil {
				return err
			}
			if err := r.show(decision, func(p *term.Page) { view.ACLDecision(p, decision) }); err != nil {
				return err
			}
			if !decision.Allowed {
				return exitWith(exitRefused)
			}
			return nil
		},
	}
}
