// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
)

func aclCommand(*cli) *command {
	return &command{
		use:   "acl",
		short: "Give people and programs limited rights: policies, roles and tokens",
		long: `A policy is a text of rules: they grant capabilities for namespaces and other
objects. A token has the rights of its policies and roles. A role is a set of
policies that tokens share. The operator's token, and tokens of the type
"management", may do everything. See docs/access.md.`,
		verbs: []constructor{aclPolicyCommand, aclRoleCommand, aclTokenCommand, aclAuthMethodCommand, aclBindingRuleCommand, aclExplainCommand, aclBootstrapCommand},
	}
}

func aclPolicyCommand(*cli) *command {
	return &command{
		use:     "policy",
		aliases: []string{"policies"},
		short:   "List, create, change and delete policies",
		verbs:   []constructor{aclPolicyApplyCommand, aclPolicyListCommand, aclPolicyInfoCommand, aclPolicyDeleteCommand, aclPolicySelfCommand},
	}
}

func aclRoleCommand(*cli) *command {
	return &command{
		use:     "role",
		aliases: []string{"roles"},
		short:   "List, create, change and delete roles",
		long: `A role is a set of policies that tokens share: a change of the role immediately
changes the rights of its tokens. ROLE is a name, an id, or the beginning of an
id.`,
		verbs: []constructor{aclRoleCreateCommand, aclRoleUpdateCommand, aclRoleListCommand, aclRoleInfoCommand, aclRoleDeleteCommand},
	}
}

func aclTokenCommand(*cli) *command {
	return &command{
		use:     "token",
		aliases: []string{"tokens"},
		short:   "List, create, change and delete tokens",
		long: `A token has a public accessor id, by which commands name it, and a secret, which
its bearer presents. Servers store only a hash of the secret. ACCESSOR is an
accessor id, or its beginning.`,
		verbs: []constructor{aclTokenCreateCommand, aclTokenUpdateCommand, aclTokenListCommand, aclTokenInfoCommand, aclTokenDeleteCommand, aclTokenSelfCommand},
	}
}

// resolveRole returns the id of the role with a name, or of the only role whose id has a prefix.
func (c *cli) resolveRole(ctx context.Context, cl *client.Client, text string) (string, error) {
	if text != "" {
		role, _, err := cl.ACL().RoleNamed(ctx, text, nil)
		if err == nil {
			return role.ID, nil
		}
		if api.CodeOf(err) != api.CodeNotFound {
			return "", err
		}
	}
	id, err := resolve(ctx, cl, "role", text, cl.ACL().Roles, func(r *api.ACLRole) match { return match{r.ID, r.Name} })
	if api.CodeOf(err) == api.CodeNotFound {
		return "", api.Errorf(api.CodeNotFound, "no role has the name %q, or an id with this prefix; list roles with: reeve acl role list", text)
	}
	return id, err
}

// resolveToken returns the whole accessor id for a prefix.
func (c *cli) resolveToken(ctx context.Context, cl *client.Client, prefix string) (string, error) {
	return resolve(ctx, cl, "token", prefix, cl.ACL().Tokens, func(t *api.ACLTokenListStub) match {
		return match{t.AccessorID, human.Dash(t.Name) + ", " + t.Type}
	})
}

func (r *call) roleArgument(text string) (string, error) { return r.resolveRole(r.ctx, r.cl, text) }

func (r *call) tokenArgument(text string) (string, error) { return r.resolveToken(r.ctx, r.cl, text) }

// completePolicies completes the name of a policy.
func (c *cli) completePolicies(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.completeFrom(cmd, args, prefix, policyNames)
}

// policyNames returns the names of policies.
func policyNames(r *call, prefix string) ([]string, error) {
	list, _, err := r.cl.ACL().Policies(r.ctx, &client.QueryOptions{Prefix: prefix})
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names, err
}

// roleNames completes the names of roles.
func roleNames(r *call, _ string) ([]string, error) {
	list, _, err := r.cl.ACL().Roles(r.ctx, nil)
	var names []string
	for _, role := range list {
		names = append(names, role.Name)
	}
	return names, err
}

// accessors completes the accessor ids of tokens.
func accessors(r *call, prefix string) ([]string, error) {
	list, _, err := r.cl.ACL().Tokens(r.ctx, &client.QueryOptions{Prefix: prefix})
	var ids []string
	for _, t := range list {
		ids = append(ids, t.AccessorID)
	}
	return ids, err
}
