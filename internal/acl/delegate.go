// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Delegation.
//
// A caller with the capability delegate in a namespace writes policies for it, and creates tokens with
// them. Two things keep such a token within the rights of its creator:
//
//   - NewWithin: at each request, the token may do at most what its creator may do at that moment. This
//     alone suffices, also if the rights of the creator shrink or a policy changes later.
//   - CheckDelegated: a policy that grants more than its author has is rejected when it is written, because
//     its rules would have no effect. The check is conservative: it may reject a policy that grants
//     nothing more, and accepts none that does.

// NewWithin combines policies into an ACL that permits at most what another one permits.
func NewWithin(limit *ACL, policies ...*Policy) *ACL {
	a := New(policies...)
	a.limit = limit
	return a
}

// MayDelegate reports whether the caller may delegate rights in a namespace: it has the capability there,
// or in an ancestor, and no rule denies it the namespaces between.
func (a *ACL) MayDelegate(namespace string) bool {
	for name := namespace; name != ""; name = api.ParentNamespace(name) {
		switch set := a.inNamespace(name); {
		case set.IsDenied():
			return false
		case set.Has(Delegate):
			return true
		}
	}
	return false
}

// CheckNamespaced returns an error unless all rules of a policy are for a namespace and those below it.
func CheckNamespaced(p *Policy, namespace string) error {
	c := &parser{policy: p}
	if n := p.size(); n > maxNamespacedRules {
		return api.Errorf(api.CodeInvalid, "policy %q has %d rules and paths, and one of a namespace may have %d: divide it into several policies", p.Name, n, maxNamespacedRules)
	}
	for _, r := range p.Rules {
		if r.Scope != Namespace {
			c.addAt(r.Line, 1, "a policy of namespace %q has only rules for namespaces: remove %s, or ask an administrator of the cluster for it", namespace, r.Scope)
			continue
		}
		prefix, _, _ := strings.Cut(r.Label, "*")
		if r.Label != namespace && !strings.HasPrefix(prefix, namespace+"/") {
			c.addAt(r.Line, 1, "`namespace %q` reaches beyond namespace %q, to which the policy belongs: write %q, or a name or pattern that begins with %q", r.Label, namespace, namespace, namespace+"/")
		}
		if !plainLabel(r.Label, "/-") {
			c.addAt(r.Line, 1, "`namespace %q` contains characters that no namespace has", r.Label)
		}
		for _, path := range r.Paths {
			if !plainLabel(path.Label, "/-_~") {
				c.addAt(path.Line, 1, "`path %q` contains characters that no variable has", path.Label)
			}
		}
	}
	return c.err()
}

// maxNamespacedRules bounds the rules and paths of a policy that belongs to a namespace, because each is
// compared with all rules of its author.
const maxNamespacedRules = 128

// size returns the number of rules and paths.
func (p *Policy) size() int {
	n := len(p.Rules)
	for _, r := range p.Rules {
		n += len(r.Paths)
	}
	return n
}

// plainLabel reports whether a label has only letters, digits, asterisks and some further characters.
func plainLabel(label, further string) bool {
	return !strings.ContainsFunc(label, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '*' || strings.ContainsRune(further, r))
	})
}

// CheckDelegated returns an error unless an author may do everything that a policy of namespaces grants.
func CheckDelegated(p *Policy, author *ACL) error {
	c := &parser{policy: p}
	for _, r := range p.Rules {
		if r.Set.IsDenied() {
			continue // its variables are denied too
		}
		for a := author; a != nil && !a.management; a = a.limit {
			c.checkRule(r, a.namespaceRules())
		}
	}
	slices.Sort(c.problems)
	c.problems = slices.Compact(c.problems)
	err := c.err()
	if e, ok := err.(*api.Error); ok {
		e.Code = api.CodeForbidden
	}
	return err
}

func (a *ACL) namespaceRules() (all []*Rule) {
	for _, p := range a.policies {
		for _, r := range p.Rules {
			if r.Scope == Namespace {
				all = append(all, r)
			}
		}
	}
	return all
}

// checkRule adds a problem unless rules of an author grant all that a rule grants.
func (p *parser) checkRule(r *Rule, author []*Rule) {
	grants := slices.ContainsFunc(r.Paths, func(path *Rule) bool { return path.granted() != 0 })
	if r.Set == 0 && !grants || len(p.problems) > maxProblems {
		return
	}
	groups, all := deciding(author, r.Label)
	if !all {
		p.addAt(r.Line, 1, "`namespace %q` grants %s, and your token has no rule for all of these namespaces: grant only what you may do", r.Label, orVariables(r.Set))
		return
	}
	for _, group := range groups {
		has := union(group)
		if has.IsDenied() || r.Set&^has != 0 {
			p.addAt(r.Line, 1, "`namespace %q` grants %s, which %s does not grant to your token: grant only what you may do", r.Label, orVariables(r.Set&^has.permitted()), cite(group, nil))
			continue
		}
		var paths []*Rule
		for _, g := range group {
			paths = append(paths, g.Paths...)
		}
		for _, path := range r.Paths {
			p.checkPath(path, paths)
		}
	}
}

// checkPath adds a problem unless rules of an author grant all that a rule for variables grants.
func (p *parser) checkPath(path *Rule, author []*Rule) {
	if path.granted() == 0 {
		return
	}
	groups, all := deciding(author, path.Label)
	if !all {
		p.addAt(path.Line, 1, "`path %q` grants %s, and your token has no rule for all of these variables: grant only what you may do", path.Label, path.Set.list(Variables))
		return
	}
	for _, group := range groups {
		if has := union(group); has.IsDenied() || path.Set&^has != 0 {
			p.addAt(path.Line, 1, "`path %q` grants %s, which %s does not grant to your token: grant only what you may do", path.Label, (path.Set &^ has.permitted()).list(Variables), cite(group, nil))
		}
	}
}

func orVariables(s Set) string {
	if s == 0 {
		return "rights for variables"
	}
	return s.list(Namespace)
}

// union returns what rules grant that decide together.
func union(rules []*Rule) (s Set) {
	for _, r := range rules {
		s |= r.Set
	}
	return s
}

// permitted returns what the set permits.
func (s Set) permitted() Set {
	if s.IsDenied() {
		return 0
	}
	return s
}

// deciding returns the rules that may decide about a name for which a label stands, in groups whose
// rules decide together, and whether each such name has a deciding rule. A name for which several groups
// decide together has what each of them grants.
//
// Patterns decide by the length of their text. So a pattern never decides about a name of the label if a
// longer one matches all of them.
func deciding(rules []*Rule, label string) (groups [][]*Rule, all bool) {
	wanted := newGlob(label)
	if wanted.isName() {
		s := search{name: label}
		x := newGroupIndex(rules)
		for i := range x {
			s.add(&x[i])
		}
		return [][]*Rule{s.rules}, s.any
	}
	longest := -1
	for _, r := range rules {
		if r.glob.covers(&wanted) {
			longest = max(longest, r.glob.length)
		}
	}
	if longest < 0 {
		return nil, false
	}
	at := map[string]int{}
	for _, r := range rules {
		decides := r.glob.length >= longest && r.glob.overlaps(&wanted)
		if r.glob.isName() {
			decides = wanted.matches(r.Label)
		}
		if !decides {
			continue
		}
		i, known := at[r.Label]
		if !known {
			i = len(groups)
			at[r.Label], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups, true
}

// newGroupIndex returns an index of each rule: several rules may have one label.
func newGroupIndex(rules []*Rule) []index {
	all := make([]index, len(rules))
	for i, r := range rules {
		all[i] = newIndex([]*Rule{r})
	}
	return all
}

// wild stands for an asterisk of a pattern in a name. No text contains it: it is not valid UTF-8.
const wild = "\xff"

// covers reports whether the pattern matches all names that another one matches.
func (g *glob) covers(other *glob) bool {
	return !g.isName() && !slices.ContainsFunc(g.parts, func(part string) bool { return strings.Contains(part, wild) }) &&
		g.matches(strings.Join(other.parts, wild))
}

// overlaps reports whether two patterns match a common name: their beginnings and their ends agree, and
// asterisks take the rest.
func (g *glob) overlaps(other *glob) bool {
	a, b := g.parts, other.parts
	begin, end := a[0], a[len(a)-1]
	otherBegin, otherEnd := b[0], b[len(b)-1]
	return (strings.HasPrefix(begin, otherBegin) || strings.HasPrefix(otherBegin, begin)) &&
		(strings.HasSuffix(end, otherEnd) || strings.HasSuffix(otherEnd, end))
}

// PatternCovers reports whether a pattern, in which `*` stands for any text, matches all names that
// another one matches.
func PatternCovers(pattern, other string) bool {
	g, o := newGlob(pattern), newGlob(other)
	if g.isName() || o.isName() {
		return o.isName() && g.matches(other)
	}
	return g.covers(&o)
}

// PatternsOverlap reports whether a common name matches two patterns.
func PatternsOverlap(a, b string) bool {
	g, o := newGlob(a), newGlob(b)
	switch {
	case g.isName():
		return o.matches(a)
	case o.isName():
		return g.matches(b)
	}
	return g.overlaps(&o)
}
