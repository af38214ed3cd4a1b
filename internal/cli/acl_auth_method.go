// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclAuthMethodCommand(*cli) *command {
	return &command{
		use:     "auth-method",
		aliases: []string{"auth-methods"},
		short:   "List, create, change and delete auth methods",
		long: `An auth method names an identity provider whose users log in. Binding rules say
which rights they get.`,
		verbs: []constructor{aclAuthMethodCreateCommand, aclAuthMethodUpdateCommand, aclAuthMethodListCommand, aclAuthMethodInfoCommand, aclAuthMethodDeleteCommand},
	}
}

func aclAuthMethodListCommand(*cli) *command {
	return &command{
		use:     "list",
		short:   "List auth methods",
		example: "reeve acl auth-method list",
		format:  true,
		run: func(r *call) error {
			list, _, err := r.cl.ACL().AuthMethods(r.ctx, nil)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No auth methods.")
					p.Next("Create one:  reeve acl auth-method create -name NAME -type OIDC -max-token-ttl 8h -config FILE")
					return
				}
				view.ACLAuthMethods(p, list)
			})
		},
	}
}

func aclAuthMethodInfoCommand(*cli) *command {
	return &command{
		use:     "info METHOD",
		aliases: []string{"show", "inspect", "status"},
		short:   "Show an auth method, without its secret",
		example: "reeve acl auth-method info sso",
		format:  true,
		run: func(r *call) error {
			m, _, err := r.cl.ACL().AuthMethod(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			return r.show(m, func(p *term.Page) { view.ACLAuthMethod(p, m) })
		},
	}
}

func aclAuthMethodDeleteCommand(c *cli) *command {
	return &command{
		use:     "delete METHOD",
		short:   "Delete an auth method",
		long:    "Delete an auth method, whose binding rules were deleted before. The tokens of\nits users stay valid until they expire.",
		example: "reeve acl auth-method delete sso",
		run: func(r *call) error {
			if _, err := r.cl.ACL().DeleteAuthMethod(r.ctx, r.args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Deleted auth method %q.\n", r.args[0])
			return nil
		},
	}
}

// methodNames completes the names of auth methods.
func methodNames(r *call, _ string) ([]string, error) {
	list, _, err := r.cl.ACL().AuthMethods(r.ctx, nil)
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	return names, err
}
