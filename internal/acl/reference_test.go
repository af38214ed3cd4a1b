// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The reference evaluates the rules of policies slowly, straight from the words of the package
// comment: it keeps no index and no bits, and matches patterns recursively.

// reference returns whether the rules permit a capability for a name, or for a path in a
// namespace.
func reference(policies []*Policy, q Question) bool {
	var all []*Rule
	for _, p := range policies {
		all = append(all, p.Rules...)
	}
	scope := q.Capability.Scope()
	if scope != Variables {
		return referenceGrants(referenceDeciding(all, scope, q.Name), q.Capability)
	}
	var paths []*Rule
	for _, r := range referenceDeciding(all, Namespace, q.Name) {
		if r.Set.IsDenied() {
			return false
		}
		paths = append(paths, r.Paths...)
	}
	return referenceGrants(referenceDeciding(paths, Variables, q.Path), q.Capability)
}

// referenceDeciding returns the rules of the most specific labels.
func referenceDeciding(rules []*Rule, scope Scope, name string) []*Rule {
	best := len(name) + 1
	var deciding []*Rule
	for _, r := range rules {
		if r.Scope != scope || !referenceMatches(r.Label, name) {
			continue
		}
		rest := len(name) - len(strings.ReplaceAll(r.Label, "*", ""))
		if !strings.Contains(r.Label, "*") {
			rest = -1
		}
		if rest < best {
			best, deciding = rest, nil
		}
		if rest == best {
			deciding = append(deciding, r)
		}
	}
	return deciding
}

func referenceMatches(pattern, name string) bool {
	if pattern == "" {
		return name == ""
	}
	if pattern[0] == '*' {
		for i := range len(name) + 1 {
			if referenceMatches(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	return name != "" && name[0] == pattern[0] && referenceMatches(pattern[1:], name[1:])
}

func referenceGrants(rules []*Rule, c Capability) bool {
	granted := false
	for _, r := range rules {
		if r.Set.IsDenied() {
			return false
		}
		granted = granted || r.Set.Has(c)
	}
	return granted
}

// label makes a short name or pattern over few letters, so that many of them match each other.
func label(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		b.WriteByte("ab/**"[r.IntN(5)])
	}
	return strings.ReplaceAll(b.String(), "**", "*")
}

// randomText makes a policy; its text may repeat no label.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	seen := map[string]bool{}
	for range 1 + r.IntN(5) {
		scope := []Scope{Namespace, Namespace, NodePool, HostVolume}[r.IntN(4)]
		name := label(r)
		if seen[kinds[scope]+name] {
			continue
		}
		seen[kinds[scope]+name] = true
		fmt.Fprintf(&b, "%s %q {\n", kinds[scope], name)
		fmt.Fprintf(&b, "  capabilities = [%s]\n", randomGrants(r, scope))
		if scope == Namespace && r.IntN(2) == 0 {
			b.WriteString("  variables {\n")
			paths := map[string]bool{}
			for range 1 + r.IntN(3) {
				if path := "x" + label(r); !paths[path] {
					paths[path] = true
					fmt.Fprintf(&b, "    path %q { capabilities = [%s] }\n", path, randomGrants(r, Variables))
				}
			}
			b.WriteString("  }\n")
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func randomGrants(r *rand.Rand, scope Scope) string {
	var list []string
	for range r.IntN(4) {
		all := scope.all()
		list = append(list, fmt.Sprintf("%q", names[all[r.IntN(len(all))]]))
	}
	if r.IntN(8) == 0 {
		list = append(list, `"deny"`)
	}
	return strings.Join(list, ", ")
}

func TestDecisionsAreThoseOfTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	allowed, asked := 0, 0
	for range 1500 {
		var policies []*Policy
		var texts []string
		for i := range 1 + r.IntN(4) {
			text := randomText(r)
			p, err := Parse(fmt.Sprint("p", i), text)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			policies, texts = append(policies, p), append(texts, text)
		}
		a := New(policies...)
		for range 60 {
			c := 1 + Capability(r.IntN(int(ReadNode)-1))
			q := Question{Capability: c, Name: strings.ReplaceAll(label(r), "*", "a"), Path: "x" + strings.ReplaceAll(label(r), "*", "b")}
			want := reference(policies, q)
			got, why := a.Allows(q), a.Explain(q)
			if got != want || why.Allowed != want || why.Reason == "" {
				t.Fatalf("%s %+v: allowed %t, explained %+v, want %t, with\n%s", c, q, got, why, want, strings.Join(texts, "\n---\n"))
			}
			if got && !a.AllowsAnywhere(c) {
				t.Fatalf("%s is allowed for %+v, but nowhere", c, q)
			}
			asked++
			if got {
				allowed++
			}
		}
	}
	if share := float64(allowed) / float64(asked); share < 0.02 || share > 0.5 {
		t.Errorf("%.1f %% of the questions were allowed: the test compares hardly anything", 100*share)
	}
}

// TestAddedPoliciesTakeAwayOnlyByDenyOrByPrecision checks what users rely on: with the same
// labels, a further policy takes nothing away unless it denies.
func TestAddedPoliciesTakeAwayOnlyByDenyOrByPrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		name := label(r)
		grants := [2]string{randomGrants(r, Namespace), randomGrants(r, Namespace)}
		var p [2]*Policy
		for i := range p {
			var err error
			if p[i], err = Parse("p", fmt.Sprintf("namespace %q { capabilities = [%s] }", name, grants[i])); err != nil {
				t.Fatal(err)
			}
		}
		q := Question{Capability: 1 + Capability(r.IntN(int(MarkDomain))), Name: strings.ReplaceAll(name, "*", "a")}
		if New(p[0]).Allows(q) && !New(p[0], p[1]).Allows(q) && !strings.Contains(grants[1], "deny") {
			t.Fatalf("%v in %q: granted by %s, and taken away by %s", q.Capability, name, grants[0], grants[1])
		}
	}
}
