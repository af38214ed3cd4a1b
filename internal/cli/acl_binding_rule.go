// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func aclBindingRuleCommand(*cli) *command {
	return &command{
		use:     "binding-rule",
		aliases: []string{"binding-rules"},
		short:   "List, create, change and delete binding rules",
		long: `A binding rule gives a role, a policy or management rights to the users of an
auth method whose claims its selector matches. RULE is an id, or its beginning.`,
		verbs: []constructor{aclBindingRuleCreateCommand, aclBindingRuleUpdateCommand, aclBindingRuleListCommand, aclBindingRuleInfoCommand, aclBindingRuleDeleteCommand},
	}
}

// ruleFlags are the settings of a binding rule on the command line.
type ruleFlags struct{ description, selector, bindType, bindName string }

func (f *ruleFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.description, "description", "", "set the description to `TEXT`")
	flags.StringVar(&f.selector, "selector", "", "the rule is for users that `EXPRESSION` matches, such as '\"ops\" in list.groups' (default: all)")
	flags.StringVar(&f.bindType, "bind-type", "", "the rule gives a `TYPE`: role, policy or management")
	flags.StringVar(&f.bindName, "bind-name", "", "`NAME` of the role or policy; may contain '${value.NAME}'")
}

func (f *ruleFlags) apply(flags *pflag.FlagSet, rule *api.ACLBindingRule) {
	for name, set := range map[string]struct{ to, value *string }{
		"description": {&rule.Description, &f.description}, "selector": {&rule.Selector, &f.selector},
		"bind-type": {&rule.BindType, &f.bindType}, "bind-name": {&rule.BindName, &f.bindName},
	} {
		if flags.Changed(name) {
			*set.to = *set.value
		}
	}
}

func aclBindingRuleCreateCommand(*cli) *command {
	var f ruleFlags
	var method string
	return &command{
		use:     "create",
		short:   "Create a binding rule",
		example: `reeve acl binding-rule create -auth-method sso -selector '"ops" in list.groups' -bind-type role -bind-name web-dev`,
		format:  true,
		flags: func(flags *pflag.FlagSet) {
			f.addTo(flags)
			flags.StringVar(&method, "auth-method", "", "the rule is for users of the auth method `NAME`")
		},
		check: func(*call) error {
			if method == "" || f.bindType == "" {
				return usagef("-auth-method and -bind-type are needed")
			}
			return nil
		},
		run: func(r *call) error {
			rule := &api.ACLBindingRule{AuthMethod: method}
			f.apply(r.flags, rule)
			if err := rule.Validate(); err != nil {
				return err
			}
			created, err := r.cl.ACL().CreateBindingRule(r.ctx, rule)
			if err != nil {
				return err
			}
			return r.show(created, func(p *term.Page) { view.ACLBindingRule(p, created) })
		},
	}
}

func aclBindingRuleUpdateCommand(*cli) *command {
	var f ruleFlags
	return &command{
		use:     "update RULE",
		short:   "Change a binding rule",
		long:    "Change the settings of the given flags. Tokens of earlier logins keep their\nrights until they expire.",
		example: "reeve acl binding-rule update -bind-name support 0b9c1f6e",
		format:  true,
		flags:   f.addTo,
		run: func(r *call) error {
			rule, _, err := r.cl.ACL().BindingRule(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			f.apply(r.flags, rule)
			changed, err := r.cl.ACL().UpdateBindingRule(r.ctx, rule)
			if err != nil {
				return err
			}
			return r.show(changed, func(p *term.Page) { view.ACLBindingRule(p, changed) })
		},
	}
}

func aclBindingRuleListCommand(*cli) *command {
	var q client.QueryOptions
	return &command{
		use:     "list",
		short:   "List binding rules",
		example: "reeve acl binding-rule list",
		format:  true,
		flags:   func(f *pflag.FlagSet) { addListFlags(f, &q) },
		run: func(r *call) error {
			list, err := listAll(r.ctx, q, r.cl.ACL().BindingRules)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No binding rules.")
					p.Next("Create one:  reeve acl binding-rule create -auth-method NAME -bind-type policy -bind-name POLICY")
					return
				}
				view.ACLBindingRules(p, list)
			})
		},
	}
}

func aclBindingRuleInfoCommand(*cli) *command {
	return &command{
		use:     "info RULE",
		aliases: []string{"show", "inspect", "status"},
		short:   "Show a binding rule",
		example: "reeve acl binding-rule info 0b9c1f6e",
		format:  true,
		run: func(r *call) error {
			rule, _, err := r.cl.ACL().BindingRule(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			return r.show(rule, func(p *term.Page) { view.ACLBindingRule(p, rule) })
		},
	}
}

func aclBindingRuleDeleteCommand(c *cli) *command {
	return &command{
		use:     "delete RULE",
		short:   "Delete a binding rule",
		long:    "Delete a binding rule. Tokens of earlier logins keep their rights until they\nexpire.",
		example: "reeve acl binding-rule delete 0b9c1f6e",
		run: func(r *call) error {
			if _, err := r.cl.ACL().DeleteBindingRule(r.ctx, r.args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Deleted binding rule %s.\n", r.args[0])
			return nil
		},
	}
}

func (r *call) ruleArgument(text string) (string, error) {
	return resolve(r.ctx, r.cl, "binding rule", text, r.cl.ACL().BindingRules, func(b *api.ACLBindingRuleStub) match {
		return match{b.ID, b.AuthMethod + ", " + human.Dash(b.Description)}
	})
}
