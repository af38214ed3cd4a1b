// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/jobspec"
)

// A schema is what a block may contain.
type schema struct {
	label    string // meaning of the label; "" if the block has none
	optional bool   // a missing label is `default`
	attrs    []string
	blocks   map[string]*schema
}

// top is the schema of a policy.
var top = func() *schema {
	both := []string{"capabilities", "policy"}
	paths := &schema{blocks: map[string]*schema{"path": {label: "path", attrs: both[:1]}}}
	s := &schema{blocks: map[string]*schema{
		"namespace":   {label: "name", optional: true, attrs: both, blocks: map[string]*schema{"variables": paths}},
		"node_pool":   {label: "name", attrs: both},
		"host_volume": {label: "name", attrs: both},
		"operator":    {attrs: both},
	}}
	for _, kind := range []string{"node", "agent", "quota", "plugin"} {
		s.blocks[kind] = &schema{attrs: both[1:]}
	}
	return s
}()

// names returns the names that a block accepts.
func (s *schema) names() []string {
	return append(slices.Sorted(maps.Keys(s.blocks)), s.attrs...)
}

// check reports unknown names of a block.
func (p *parser) check(b *block, s *schema, where string) {
	slices.SortFunc(b.attrs, func(x, y attribute) int { return cmp.Compare(x.at.Start.Byte, y.at.Start.Byte) })
	slices.SortStableFunc(b.blocks, func(x, y *block) int { return cmp.Compare(x.at.Start.Byte, y.at.Start.Byte) })
	for _, a := range b.attrs {
		switch {
		case s.blocks[a.name] != nil:
			p.add(a.at, "%s is a block: write `%s { ... }` without `=`", a.name, a.name)
		case !slices.Contains(s.attrs, a.name):
			p.unknown(a.at, s, where, "argument", a.name)
		}
	}
	for _, inner := range b.blocks {
		if s.blocks[inner.kind] == nil {
			if slices.Contains(s.attrs, inner.kind) {
				p.add(inner.at, "%s is an argument: write `%s = ...`", inner.kind, inner.kind)
				continue
			}
			p.unknown(inner.at, s, where, "block", inner.kind)
		}
	}
}

func (p *parser) unknown(at hcl.Range, s *schema, where, noun, name string) {
	hint := "; it may contain " + strings.Join(s.names(), ", ")
	if near := jobspec.Nearest(name, s.names()); near != "" {
		hint = "; did you mean " + strconv.Quote(near) + "?"
	}
	p.add(at, "%s has no %s %.64q%s", where, noun, name, hint)
}

// top reads the rules of a policy.
func (p *parser) top(b *block) {
	p.check(b, top, "a policy")
	seen := map[string]*block{}
	for _, inner := range b.blocks {
		s := top.blocks[inner.kind]
		if s == nil {
			continue
		}
		label, ok := p.label(inner, s)
		if !ok || p.repeats(seen, inner, label) {
			continue
		}
		scope := Scope(slices.Index(kinds[:], inner.kind))
		p.policy.Rules = append(p.policy.Rules, p.rule(inner, s, scope, label))
	}
	if len(p.policy.Rules) == 0 && len(p.problems) == 0 {
		p.addAt(1, 1, "the policy has no rules: write at least one, such as `namespace \"default\" { policy = \"read\" }`")
	}
}

// label returns the label of a block, and whether it has the right number of labels.
func (p *parser) label(b *block, s *schema) (string, bool) {
	switch {
	case s.label == "" && len(b.labels) > 0:
		p.add(b.at, "%s takes no label: remove %.64q", b.kind, b.labels[0])
		return "", false
	case s.label == "":
		return "", true
	case len(b.labels) == 0 && s.optional:
		return api.DefaultNamespace, true
	case len(b.labels) != 1:
		p.add(b.at, "%s takes one label, its %s: write `%s \"%s\" { ... }`", b.kind, s.label, b.kind, strings.ToUpper(s.label))
		return "", false
	}
	label := b.labels[0]
	switch {
	case label == "":
		p.add(b.at, "the label of %s is empty: name the object, or write \"*\" for all", b.kind)
		return "", false
	case len(label) > maxLabel:
		p.add(b.at, "the label of %s has %d characters, the maximum is %d", b.kind, len(label), maxLabel)
		return "", false
	case b.kind == "path" && label[0] == '/':
		p.add(b.at, "variables have no leading slash: write path %q", strings.TrimLeft(label, "/"))
		return "", false
	}
	return label, true
}

// repeats reports a second rule for the same objects: it is unclear which one should count.
func (p *parser) repeats(seen map[string]*block, b *block, label string) bool {
	key := b.kind + " " + label
	if before := seen[key]; before != nil {
		what := b.kind
		if label != "" {
			what += " " + strconv.Quote(label)
		}
		p.add(b.at, "%s has a rule in line %d already: combine the two", what, before.at.Start.Line)
		return true
	}
	seen[key] = b
	return false
}

// rule reads one rule.
func (p *parser) rule(b *block, s *schema, scope Scope, label string) *Rule {
	r := &Rule{Policy: p.policy.Name, Scope: scope, Label: label, Line: b.at.Start.Line, glob: newGlob(label)}
	p.check(b, s, b.kind)
	grants := false
	for _, a := range b.attrs {
		switch a.name {
		case "policy":
			grants = true
			r.Set |= p.disposition(a, scope)
		case "capabilities":
			grants = true
			r.Set |= p.capabilities(a, scope)
		}
	}
	seen := map[string]*block{}
	for _, inner := range b.blocks {
		if s.blocks[inner.kind] == nil || p.repeats(seen, inner, "") {
			continue
		}
		grants = true
		p.variables(inner, s.blocks[inner.kind], r)
	}
	if !grants && len(p.problems) == 0 {
		p.add(b.at, "%s grants nothing: set %s", b.kind, strings.Join(s.names(), " or "))
	}
	return r
}

// variables reads the rules for a namespace's variables.
func (p *parser) variables(b *block, s *schema, r *Rule) {
	p.check(b, s, b.kind)
	if len(b.labels) > 0 {
		p.add(b.at, "variables takes no label: remove %.64q, and write `path \"PATH\" { ... }` inside", b.labels[0])
	}
	seen := map[string]*block{}
	for _, inner := range b.blocks {
		paths := s.blocks[inner.kind]
		if paths == nil {
			continue
		}
		if label, ok := p.label(inner, paths); ok && !p.repeats(seen, inner, label) {
			r.Paths = append(r.Paths, p.rule(inner, paths, Variables, label))
		}
	}
	if len(b.blocks) == 0 {
		p.add(b.at, "variables grants nothing: write `path \"PATH\" { capabilities = [\"read\"] }` inside")
	}
}

// disposition reads the argument `policy`.
func (p *parser) disposition(a attribute, scope Scope) Set {
	name, ok := text(a.value)
	if set, known := dispositions[scope][name]; ok && known {
		return set
	}
	p.unknownGrant(a, "policy", name, dispositions[scope])
	return 0
}

// capabilities reads the argument `capabilities`.
func (p *parser) capabilities(a attribute, scope Scope) (s Set) {
	if a.value.IsNull() || !a.value.IsWhollyKnown() || !a.value.CanIterateElements() || a.value.Type().IsObjectType() || a.value.Type().IsMapType() {
		p.add(a.at, "capabilities is a list: write capabilities = [\"NAME\", ...]")
		return 0
	}
	for _, v := range a.value.Elements() {
		name, ok := text(v)
		set, known := listed[scope][name]
		if !ok || !known {
			p.unknownGrant(a, "capability", name, listed[scope])
		}
		s |= set
	}
	return s
}

func (p *parser) unknownGrant(a attribute, noun, name string, known grant) {
	all := slices.Sorted(maps.Keys(known))
	hint := "; it is one of " + strings.Join(all, ", ")
	if near := jobspec.Nearest(name, all); near != "" && name != "" {
		hint = "; did you mean " + strconv.Quote(near) + "?"
	}
	p.add(a.at, "%.64q is no %s of this rule%s", name, noun, hint)
}

// text returns the text of a value.
func text(v cty.Value) (string, bool) {
	if v.IsNull() || !v.IsWhollyKnown() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}
