// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import "strconv"

// A Policy is a parsed policy. Policies are immutable: many ACLs share one.
type Policy struct {
	Name  string
	Rules []*Rule

	labeled [HostVolume + 1]index // by scope; Variables stays empty, as rules contain them
	plain   [scopes][]*Rule
	some    [scopes]Set // granted for some object
}

// DenyAll returns a policy that denies everything: it replaces one that cannot be parsed.
func DenyAll(name string) *Policy {
	p := &Policy{Name: name}
	for scope := range scopes {
		if scope == Variables {
			continue
		}
		label := ""
		if scope.isLabeled() {
			label = "*"
		}
		p.Rules = append(p.Rules, &Rule{Policy: name, Scope: scope, Label: label, Line: 1, Set: denied, glob: newGlob(label)})
	}
	p.prepare()
	return p
}

// A Rule grants capabilities for the objects with its label.
type Rule struct {
	Policy string // name of its policy
	Scope  Scope
	Label  string // "" if the scope's rules have none
	Line   int    // in the policy's text, from 1
	Set    Set
	Paths  []*Rule // of a namespace's variables

	glob  glob
	paths index
}

// String describes the rule and its place.
func (r *Rule) String() string {
	text := kinds[r.Scope]
	switch {
	case r.Scope == Variables:
		text = "path " + strconv.Quote(r.Label)
	case r.Scope.isLabeled():
		text += " " + strconv.Quote(r.Label)
	}
	return "the rule `" + text + "` in line " + strconv.Itoa(r.Line) + " of policy " + strconv.Quote(r.Policy)
}

// granted returns what the rule permits.
func (r *Rule) granted() Set {
	if r.Set.IsDenied() {
		return 0
	}
	return r.Set
}

// An index finds rules by the name of an object.
type index struct {
	names map[string]*Rule
	globs []*Rule
}

func newIndex(rules []*Rule) index {
	x := index{names: map[string]*Rule{}}
	for _, r := range rules {
		if r.glob.isName() {
			x.names[r.Label] = r
		} else {
			x.globs = append(x.globs, r)
		}
	}
	return x
}

// prepare builds the indexes, after parsing.
func (p *Policy) prepare() {
	for scope := range scopes {
		var rules []*Rule
		for _, r := range p.Rules {
			if r.Scope == scope {
				rules = append(rules, r)
			}
		}
		if scope.isLabeled() {
			p.labeled[scope] = newIndex(rules)
		} else {
			p.plain[scope] = rules
		}
	}
	for _, r := range p.Rules {
		r.paths = newIndex(r.Paths)
		p.some[r.Scope] |= r.granted()
		for _, path := range r.Paths {
			p.some[Variables] |= path.granted()
		}
	}
}

// A search collects the rules that decide about one name. Rules of one label decide together,
// and so do patterns that are equally specific.
type search struct {
	name   string
	any    bool // reports whether a rule was found
	rest   int  // of the rules found so far
	set    Set  // of all of them
	rules  []*Rule
	noList bool // leaves rules empty: no allocation
}

// add considers the rules of one index.
func (s *search) add(x *index) {
	if r := x.names[s.name]; r != nil {
		s.take(r, -1)
	}
	if s.any && s.rest < 0 {
		return
	}
	for _, r := range x.globs {
		if r.glob.matches(s.name) {
			s.take(r, r.glob.rest(s.name))
		}
	}
}

func (s *search) take(r *Rule, rest int) {
	switch {
	case !s.any || rest < s.rest:
		s.any, s.rest, s.set, s.rules = true, rest, 0, s.rules[:0]
	case rest > s.rest:
		return
	}
	s.set |= r.Set
	if !s.noList {
		s.rules = append(s.rules, r)
	}
}
