// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// roleFlags are the settings of a role on the command line.
type roleFlags struct {
	name        string
	description string
	policies    []string
}

func (f *roleFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.name, "name", "", "`NAME` of the role, which is unique")
	flags.StringVar(&f.description, "description", "", "set the description to `TEXT`")
	flags.StringArrayVar(&f.policies, "policy", nil, "the role has the policy `NAME`; repeatable")
}

// apply changes a role by the flags that are set. The flags -policy replace all policies.
func (f *roleFlags) apply(flags *pflag.FlagSet, role *api.ACLRole) {
	if flags.Changed("name") {
		role.Name = f.name
	}
	if flags.Changed("description") {
		role.Description = f.description
	}
	if flags.Changed("policy") {
		role.Policies = nil
		for _, name := range f.policies {
			role.Policies = append(role.Policies, &api.ACLRolePolicyLink{Name: name})
		}
	}
}

func aclRoleCreateCommand(*cli) *command {
	var f roleFlags
	return &command{
		use:     "create",
		short:   "Create a role",
		example: "reeve acl role create -name web-dev -policy web-team -policy read-nodes",
		format:  true,
		flags:   f.addTo,
		check: func(*call) error {
			switch {
			case f.name == "":
				return usagef("-name is missing: the name of the role")
			case len(f.policies) == 0:
				return usagef("-policy is missing: a role needs at least one policy; list them with: reeve acl policy list")
			}
			return nil
		},
		run: func(r *call) error {
			role := new(api.ACLRole)
			f.apply(r.flags, role)
			if err := role.Validate(); err != nil {
				return err
			}
			created, err := r.cl.ACL().CreateRole(r.ctx, role)
			if err != nil {
				return err
			}
			return r.show(created, func(p *term.Page) {
				view.ACLRole(p, created)
				p.Next("Create a token with it:  reeve acl token create -role-name " + created.Name)
			})
		},
	}
}
