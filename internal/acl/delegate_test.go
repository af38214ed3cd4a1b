// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func parsed(t testing.TB, name, text string) *Policy {
	t.Helper()
	p, err := Parse(name, text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return p
}

// treeLabel makes a name or pattern for namespace a and those below it.
func treeLabel(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return "a"
	}
	return "a/" + label(r)
}

// delegatedText makes a policy for the tree of namespace a, mostly with rights that many authors have.
func delegatedText(r *rand.Rand, labels func(*rand.Rand) string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for range 1 + r.IntN(3) {
		name := labels(r)
		if seen[name] {
			continue
		}
		seen[name] = true
		grants := func(all ...string) string {
			var list []string
			for _, c := range all {
				if r.IntN(2) == 0 {
					list = append(list, fmt.Sprintf("%q", c))
				}
			}
			if r.IntN(10) == 0 {
				list = append(list, `"deny"`)
			}
			return strings.Join(list, ", ")
		}
		fmt.Fprintf(&b, "namespace %q {\n capabilities = [%s]\n", name, grants("read-job", "submit-job", "delegate"))
		if r.IntN(2) == 0 {
			b.WriteString(" variables {\n")
			paths := map[string]bool{}
			for range 1 + r.IntN(3) {
				if path := "x" + label(r); !paths[path] {
					paths[path] = true
					fmt.Fprintf(&b, "  path %q { capabilities = [%s] }\n", path, grants("list", "read", "write"))
				}
			}
			b.WriteString(" }\n")
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// anyLabel makes labels of an author: for the tree, around it, and beside it.
func anyLabel(r *rand.Rand) string {
	switch r.IntN(5) {
	case 0:
		return "*"
	case 1:
		return "a*"
	case 2:
		return "a/*"
	case 3:
		return label(r)
	}
	return treeLabel(r)
}

// TestDelegatedPoliciesGrantNothingThatTheirAuthorsLack compares the check with the reference: what an
// accepted policy allows anywhere, its author may do there, and it allows nothing outside of its namespace.
func TestDelegatedPoliciesGrantNothingThatTheirAuthorsLack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	names := func() string {
		return strings.ReplaceAll([]string{"a", "a/" + label(r), "a" + label(r), label(r), "b"}[r.IntN(5)], "*", []string{"", "a", "b", "/"}[r.IntN(4)])
	}
	accepted, granted, needless := 0, 0, 0
	for range 3000 {
		var chain [][]*Policy // of the author, of its creator
		var author *ACL
		var texts []string
		for range 1 + r.IntN(2) {
			var policies []*Policy
			for i := range 1 + r.IntN(3) {
				text := delegatedText(r, anyLabel)
				texts = append(texts, text)
				policies = append(policies, parsed(t, fmt.Sprint("p", i), text))
			}
			chain, author = append(chain, policies), NewWithin(author, policies...)
		}
		text := delegatedText(r, treeLabel)
		if r.IntN(20) == 0 {
			text = delegatedText(r, anyLabel)
		}
		p := parsed(t, "a.x", text)
		ok := CheckNamespaced(p, "a") == nil && CheckDelegated(p, author) == nil
		exceeds := false
		for range 60 {
			q := Question{Capability: []Capability{ReadJob, SubmitJob, Delegate, PlanJob, ReadVariables, ListVariables, WriteVariables}[r.IntN(7)],
				Name: names(), Path: "x" + strings.ReplaceAll(label(r), "*", "b")}
			allowed := reference([]*Policy{p}, q)
			most := true
			for _, policies := range chain {
				most = most && reference(policies, q)
			}
			if got := author.Allows(q); got != most {
				t.Fatalf("%+v: an author within another is allowed %t, want %t, with\n%s", q, got, most, strings.Join(texts, "\n---\n"))
			}
			bound := NewWithin(author, p)
			if got := bound.Allows(q); got != (allowed && most) || bound.Explain(q).Allowed != got || got && !bound.AllowsAnywhere(q.Capability) {
				t.Fatalf("%+v: a delegated token is allowed %t (%+v), want %t", q, got, bound.Explain(q), allowed && most)
			}
			inTree := q.Name == "a" || strings.HasPrefix(q.Name, "a/")
			exceeds = exceeds || allowed && (!most || !inTree)
			if ok && allowed {
				granted++
			}
			if ok && allowed && (!most || !inTree) {
				t.Fatalf("%+v is allowed by an accepted policy, and to its author %t\n%s\nauthor:\n%s", q, most, text, strings.Join(texts, "\n---\n"))
			}
		}
		switch {
		case ok:
			accepted++
		case !exceeds:
			needless++
		}
	}
	if accepted < 150 || granted < 200 {
		t.Errorf("%d of 3000 policies were accepted, and granted %d of the questions: the test compares hardly anything", accepted, granted)
	}
	t.Logf("accepted %d, granted %d, rejected without a counterexample among 60 questions %d", accepted, granted, needless)
}

func TestWhatAuthorsMayDelegate(t *testing.T) {
	const team = `namespace "web" {
  policy = "write"
  capabilities = ["delegate"]
  variables {
    path "*" { capabilities = ["read", "write"] }
    path "root/*" { capabilities = ["deny"] }
  }
}
namespace "web/*" { policy = "write" }
namespace "web/locked" { policy = "deny" }
namespace "*" { policy = "read" }`
	author := New(parsed(t, "team", team))
	for text, want := range map[string]string{
		`namespace "web" { policy = "write" }`:                                                    "",
		`namespace "web/test" { policy = "write" }`:                                               "",
		`namespace "web/t*" { policy = "write" }`:                                                 "",
		`namespace "web/locked" { policy = "deny" }`:                                              "",
		`namespace "web" { capabilities = ["delegate"] }`:                                         "",
		"namespace \"web\" {\n variables {\n path \"shop/*\" { capabilities = [\"read\"] }\n}\n}": "",
		`namespace "web/*" { policy = "write" }`:                                                  "web/locked",
		`namespace "web/l*" { policy = "read" }`:                                                  "web/locked",
		`namespace "web/test" { capabilities = ["delegate"] }`:                                    "delegate",
		`namespace "web" { capabilities = ["alloc-node-exec"] }`:                                  "alloc-node-exec",
		"namespace \"web\" {\n variables {\n path \"*\" { capabilities = [\"read\"] }\n}\n}":      "root/*",
		"namespace \"web\" {\n variables {\n path \"root/x\" { capabilities = [\"list\"] }\n}\n}": "root/*",
		"namespace \"web\" {\n variables {\n path \"a\" { capabilities = [\"destroy\"] }\n}\n}":   "destroy",
		"namespace \"web/test\" {\n variables {\n path \"a\" { capabilities = [\"read\"] }\n}\n}": "no rule for all of these variables",
		`namespace "web*" { policy = "read" }`:                                                    "beyond namespace",
		`namespace "webother" { policy = "read" }`:                                                "beyond namespace",
		`namespace "WEB" { policy = "read" }`:                                                     "beyond namespace",
		`namespace "*" { policy = "deny" }`:                                                       "beyond namespace",
		`namespace { policy = "read" }`:                                                           "beyond namespace",
		`namespace "*/web" { policy = "read" }`:                                                   "beyond namespace",
		"namespace \"web/\\u00ff\" { policy = \"read\" }":                                         "characters that no namespace has",
		"namespace \"web/\\u0000\" { policy = \"read\" }":                                         "characters that no namespace has",
		"namespace \"web\" {\n variables {\n path \"ä\" { capabilities = [\"read\"] }\n}\n}":      "characters that no variable has",
		`node { policy = "read" }`:                                                                "only rules for namespaces",
		`node_pool "*" { policy = "read" }`:                                                       "only rules for namespaces",
		`operator { capabilities = ["snapshot-save"] }`:                                           "only rules for namespaces",
		manyRules(maxNamespacedRules + 1):                                                         "divide it",
	} {
		p := parsed(t, "web.x", text)
		err := CheckNamespaced(p, "web")
		if err == nil {
			err = CheckDelegated(p, author)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(fmt.Sprintf("%+v", err), want) {
			t.Errorf("%.200s\n%v, want %q", text, err, want)
		}
	}
	if err := CheckDelegated(parsed(t, "web.x", `namespace "web/*" { policy = "write" }`), New(parsed(t, "a", `namespace "web/*" { policy = "read" }`), parsed(t, "b", `namespace "web/*" { policy = "write" }`))); err != nil {
		t.Errorf("rights from two policies: %v", err)
	}
}

func manyRules(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "namespace \"web/n%d\" { policy = \"read\" }\n", i)
	}
	return b.String()
}

func TestMayDelegate(t *testing.T) {
	a := New(parsed(t, "p", `namespace "web" { capabilities = ["delegate"] }
namespace "web/locked" { policy = "deny" }
namespace "web/locked/x" { policy = "write" }
namespace "api/*" { capabilities = ["delegate"] }
namespace "shop" { policy = "write" }`))
	for name, want := range map[string]bool{
		"web": true, "web/test": true, "web/test/x": true, "web/locked": false, "web/locked/y": false, "web/locked/x": false,
		"webother": false, "Web": false, "api": false, "api/x": true, "shop": false, "": false, "other": false,
	} {
		if got := a.MayDelegate(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
	if NewWithin(New(), parsed(t, "p", `namespace "web" { capabilities = ["delegate"] }`)).MayDelegate("web") {
		t.Error("a token delegates what its creator may not")
	}
}

func TestPatternsThatCoverAndOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20000 {
		a, b := label(r), label(r)
		covers, overlaps := PatternCovers(a, b), PatternsOverlap(a, b)
		for range 8 {
			name := strings.ReplaceAll(b, "*", []string{"", "a", "b", "/", "ab", "b/a"}[r.IntN(6)])
			if matches := referenceMatches(a, name); covers && !matches {
				t.Fatalf("%q covers %q, and does not match %q", a, b, name)
			} else if matches && !overlaps {
				t.Fatalf("%q and %q do not overlap, and both match %q", a, b, name)
			}
		}
	}
	for _, c := range []struct {
		a, b             string
		covers, overlaps bool
	}{{"*", "a*", true, true}, {"a*", "a", true, true}, {"a", "a*", false, true}, {"a*b", "a*c", false, false}, {"a*b*c", "a*c", false, true}, {"a*", "b*", false, false}} {
		if PatternCovers(c.a, c.b) != c.covers || PatternsOverlap(c.a, c.b) != c.overlaps {
			t.Errorf("%q and %q: covers %t, overlaps %t", c.a, c.b, PatternCovers(c.a, c.b), PatternsOverlap(c.a, c.b))
		}
	}
}
