// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
	"github.com/reeve-run/reeve/internal/secretfile"
)

func aclBootstrapCommand(c *cli) *command {
	var path string
	return &command{
		use:   "bootstrap",
		short: "Create another management token after a reset",
		long: `The founding of a cluster is its bootstrap: the first server writes the
operator's token to operator.token in its data directory. If it is lost,
run this command on the machine of the leader, as root. It prints the reset
index. Write the index to server/acl-bootstrap-reset in the data directory,
which only root and the agent's user may write, and run the command again.
Earlier tokens stay valid.`,
		example: "reeve acl bootstrap\nreeve acl bootstrap -secret-file token.uuid",
		format:  true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&path, "secret-file", "", "the secret is the UUID in the file `PATH` (\"-\": standard input; default: the server chooses it)")
		},
		run: func(r *call) error {
			secret := ""
			if path != "" {
				var err error
				if secret, err = secretfile.ReadToken(path, c.Stdin); err != nil {
					return err
				}
			}
			token, err := r.cl.ACL().Bootstrap(r.ctx, secret)
			if err != nil {
				return err
			}
			return r.show(token, func(p *term.Page) { view.ACLToken(p, token) })
		},
	}
}
