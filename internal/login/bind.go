// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A Binding holds the rights that the binding rules give to a user. Nothing says that its roles and
// policies exist.
type Binding struct {
	Management bool
	Roles      []string // names or ids
	Policies   []string
	// Ignored are the rules that cannot be evaluated, with the reason.
	Ignored []string
}

// mostBound bounds the names of a binding: a token has a limit.
const mostBound = 128

// IsEmpty reports whether no rule gave anything.
func (b *Binding) IsEmpty() bool { return !b.Management && len(b.Roles)+len(b.Policies) == 0 }

// Bind returns what rules give to a user. A rule that cannot be evaluated gives nothing.
func Bind(rules []*api.ACLBindingRule, id *Identity) *Binding {
	b := &Binding{}
	for _, rule := range rules {
		if err := b.apply(rule, id); err != nil {
			b.Ignored = append(b.Ignored, fmt.Sprintf("rule %s: %v", rule.ID, err))
		}
	}
	return b
}

func (b *Binding) apply(rule *api.ACLBindingRule, id *Identity) error {
	matches, err := selects(rule.Selector, id)
	if err != nil || !matches {
		return err
	}
	if rule.BindType == api.ACLBindManagement {
		b.Management = true
		return nil
	}
	name, err := expand(rule.BindName, id.variables())
	if err != nil {
		return err
	}
	into := &b.Roles
	if rule.BindType == api.ACLBindPolicy {
		into = &b.Policies
	}
	switch {
	case !isName(name):
		return fmt.Errorf("%.100q is not a valid name of a %s", name, rule.BindType)
	case slices.Contains(*into, name):
	case len(b.Roles)+len(b.Policies) >= mostBound:
		return fmt.Errorf("the user has %d roles and policies already", mostBound)
	default:
		*into = append(*into, name)
	}
	return nil
}

// isName reports whether a text can be the name or the id of a role or policy. A claim may be in it.
func isName(s string) bool {
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
	})
}

// CheckRule returns an error if a rule cannot be evaluated with the claims of a method.
func CheckRule(method *api.ACLAuthMethod, rule *api.ACLBindingRule) error {
	id := blank(method.Config)
	if _, err := selects(rule.Selector, id); err != nil {
		return api.Errorf(api.CodeInvalid, "Selector: %v; it has value.%s and list.%s", err, names(id.Value), names(id.List))
	}
	if _, err := expand(rule.BindName, id.variables()); err != nil {
		return api.Errorf(api.CodeInvalid, "BindName: %v", err)
	}
	return nil
}

// names returns the names of a mapping, for a message.
func names[T any](mapped map[string]T) string {
	var all []string
	for name := range mapped {
		all = append(all, name)
	}
	slices.Sort(all)
	if len(all) == 0 {
		return "(nothing)"
	}
	return "(" + strings.Join(all, ", ") + ")"
}
