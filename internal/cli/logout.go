// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/contexts"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/trust"
)

func logoutCommand(c *cli) *command {
	var keep bool
	return &command{
		use:   "logout [NAME]",
		short: "Log out of a cluster",
		long: `Log out of the cluster of the current context, or of the context NAME: remove
the context with its token. If "reeve login -method" created the token, the
servers delete it too, so that a copy of it is useless. Tokens that you brought
to the login, such as those of "reeve acl token create", stay valid for their
other users.

If no server answers, the context remains. With -keep, the command asks no
server.`,
		example: "reeve logout\nreeve logout prod\nreeve logout -keep",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&keep, "keep", false, "do not delete the token on the servers")
		},
		ownArgs: true,
		offline: true,
		run: func(r *call) error {
			file, err := c.contexts()
			if err != nil {
				return err
			}
			name := r.arg(0)
			if name == "" {
				if name = file.Current; name == "" {
					return usagef("no context is current: name one; see reeve context list")
				}
			}
			left, err := file.Find(name)
			if err != nil {
				return err
			}
			deleted := left.Issued && !keep
			if deleted {
				if err := deleteIssued(r.ctx, &left); err != nil {
					return err
				}
			}
			if err := file.Delete(name); err != nil {
				return err
			}
			if err := file.Save(); err != nil {
				return err
			}
			outcome := "The token stays valid until it expires or is deleted."
			if deleted {
				outcome = "The token is deleted."
			}
			fmt.Fprintf(c.Stdout, "Logged out of context %s. %s\n", name, outcome)
			return nil
		},
	}
}

// deleteIssued deletes the token of a context on the servers. A token that is invalid already needs
// nothing.
func deleteIssued(ctx context.Context, left *contexts.Context) error {
	roots, err := pki.ParseRoots([]byte(left.Roots))
	if err != nil || len(left.Servers) == 0 {
		return api.Errorf(api.CodeInvalid, "log out: context %s is damaged: %v; remove it without deleting its token: reeve logout -keep %s", left.Name, err, left.Name)
	}
	cl, err := client.New(client.Config{Address: "https://" + left.Servers[0], Token: left.Token, TLS: trust.UserConfig(roots), Dial: dialAny(left.Servers)})
	if err != nil {
		return err
	}
	defer cl.Close()
	if _, err = cl.ACL().DeleteOwnToken(ctx); err != nil && api.CodeOf(err) != api.CodeForbidden {
		return api.Errorf(api.CodeOf(err), "log out: the token of context %s was not deleted: %v; try again, or forget it only here: reeve logout -keep %s", left.Name, err, left.Name)
	}
	return nil
}
