// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// tokenFlags are the settings of a token on the command line.
type tokenFlags struct {
	name      string
	policies  []string
	roleNames []string
	roleIDs   []string
}

func (f *tokenFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.name, "name", "", "`NAME` of the token, such as that of its bearer")
	flags.StringArrayVar(&f.policies, "policy", nil, "the token has the policy `NAME`; repeatable")
	flags.StringArrayVar(&f.roleNames, "role-name", nil, "the token has the role `NAME`; repeatable")
	flags.StringArrayVar(&f.roleIDs, "role-id", nil, "the token has the role `ID`; repeatable")
}

// links reports whether the flags set policies or roles.
func (f *tokenFlags) links() bool { return len(f.policies)+len(f.roleNames)+len(f.roleIDs) > 0 }

// roles returns the roles of the flags.
func (f *tokenFlags) roles() []*api.ACLTokenRoleLink {
	var links []*api.ACLTokenRoleLink
	for _, name := range f.roleNames {
		links = append(links, &api.ACLTokenRoleLink{Name: name})
	}
	for _, id := range f.roleIDs {
		links = append(links, &api.ACLTokenRoleLink{ID: id})
	}
	return links
}

func aclTokenCreateCommand(*cli) *command {
	var f tokenFlags
	var kind string
	var ttl time.Duration
	return &command{
		use:   "create",
		short: "Create a token",
		long: `Create a token, and print its secret: it is shown only now. A client token has
the rights of its policies and roles; a management token may do everything. With
-ttl, the token expires.

A token with the capability delegate in a namespace creates tokens with the
policies of the namespace, whose names begin with it, such as web.ci. They have
at most its rights, and end with it.`,
		example: `reeve acl token create -name ann -role-name web-dev
reeve acl token create -name deploy -policy web-team -ttl 1h -t '{{.SecretID}}'
reeve acl token create -name ci -policy web.ci`,
		format: true,
		flags: func(flags *pflag.FlagSet) {
			f.addTo(flags)
			flags.StringVar(&kind, "type", api.ACLTokenClient, "`TYPE` of the token: client or management")
			flags.DurationVar(&ttl, "ttl", 0, "the token expires after `D`, from 1m to 24h (default: never)")
		},
		check: func(r *call) error {
			switch {
			case r.flags.Changed("ttl") && (ttl < api.MinACLTokenTTL || ttl > api.MaxACLTokenTTL):
				return usagef("-ttl %s is not from 1m to 24h", ttl)
			case kind != api.ACLTokenClient && kind != api.ACLTokenManagement:
				return usagef("-type %q is neither client nor management", kind)
			case kind == api.ACLTokenManagement && f.links():
				return usagef("a management token may do everything: remove -policy, -role-name and -role-id, or -type management")
			case kind == api.ACLTokenClient && !f.links():
				return usagef("a client token needs at least one -policy, -role-name or -role-id")
			}
			return nil
		},
		run: func(r *call) error {
			created, err := r.cl.ACL().CreateToken(r.ctx, &api.ACLToken{
				Name: f.name, Type: kind, Policies: f.policies, Roles: f.roles(), ExpirationTTL: ttl,
			})
			if err != nil {
				return err
			}
			return r.show(created, func(p *term.Page) {
				view.ACLToken(p, created)
				p.Next("The secret is shown only now. Its bearer sets REEVE_TOKEN to it, or logs in:\nreeve login HOST")
			})
		},
	}
}
