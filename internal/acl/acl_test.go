// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"fmt"
	"strings"
	"testing"
)

func parse(t testing.TB, name, text string) *Policy {
	t.Helper()
	p, err := Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const team = `namespace "*" {
  policy = "read"
}

namespace "web-*" {
  policy       = "write"
  capabilities = ["alloc-node-exec"]

  variables {
    path "*" {
      capabilities = ["list"]
    }
    path "web/*" {
      capabilities = ["write", "read"]
    }
  }
}

namespace "web-secret" {
  policy = "deny"
}

node {
  policy = "read"
}

operator {
  capabilities = ["snapshot-save"]
}
`

func TestRulesDecide(t *testing.T) {
	a := New(parse(t, "team", team))
	for _, c := range []struct {
		ask    Question
		allows bool
		reason string
	}{
		{Question{Capability: ReadJob, Name: "default"}, true, "granted by the rule `namespace \"*\"` in line 1 of policy \"team\""},
		{Question{Capability: ExplainJob, Name: "default"}, true, "granted"},
		{Question{Capability: SubmitJob, Name: "default"}, false, "the rule `namespace \"*\"` in line 1 of policy \"team\" decides about namespace \"default\" and grants list-jobs, parse-job, read-job, explain-job"},
		{Question{Capability: SubmitJob, Name: "web-shop"}, true, "line 5"},
		{Question{Capability: RevertJob, Name: "web-shop"}, true, "line 5"},
		{Question{Capability: OperatePlan, Name: "web-shop"}, true, "line 5"},
		{Question{Capability: AllocNodeExec, Name: "web-shop"}, true, "line 5"},
		{Question{Capability: HostVolumeRead, Name: "default"}, true, "line 1"},
		{Question{Capability: SentinelOverride, Name: "web-shop"}, false, `add "sentinel-override" to its capabilities`},
		{Question{Capability: ReadJob, Name: "web-secret"}, false, "in line 19 of policy \"team\" denies everything for namespace \"web-secret\""},
		{Question{Capability: ReadVariables, Name: "web-shop", Path: "web/db"}, true, "the rule `path \"web/*\"` in line 13"},
		{Question{Capability: ListVariables, Name: "web-shop", Path: "web/db"}, true, "line 13"},
		{Question{Capability: DestroyVariables, Name: "web-shop", Path: "web/db"}, false, `add "destroy"`},
		{Question{Capability: ReadVariables, Name: "web-shop", Path: "web"}, false, "line 10"},
		{Question{Capability: ReadVariables, Name: "default", Path: "web/db"}, false, "no rule of policy \"team\" is for variable \"web/db\" in namespace \"default\": add `path \"web/db\" { capabilities = [\"read\"] }` to the block variables"},
		{Question{Capability: ReadVariables, Name: "web-secret", Path: "web/db"}, false, "denies everything"},
		{Question{Capability: ReadNode}, true, "line 23"},
		{Question{Capability: WriteNode}, false, "decides about node and grants node:read"},
		{Question{Capability: SaveSnapshot}, true, "line 27"},
		{Question{Capability: WriteAgent}, false, "add `agent { policy = \"write\" }`"},
		{Question{Capability: ReadPool, Name: "gpu"}, false, "add `node_pool \"gpu\" { capabilities = [\"read\"] }`"},
	} {
		d := a.Explain(c.ask)
		if got := a.Allows(c.ask); got != c.allows || d.Allowed != c.allows {
			t.Errorf("%s %+v: allowed %t, explained as %t, want %t", c.ask.Capability, c.ask, got, d.Allowed, c.allows)
		}
		if !strings.Contains(d.Reason, c.reason) {
			t.Errorf("%s %+v: the reason %q lacks %q", c.ask.Capability, c.ask, d.Reason, c.reason)
		}
	}
	if !a.AllowsAny("web-shop") || a.AllowsAny("web-secret") {
		t.Error("AllowsAny takes a denied namespace for a permitted one, or the reverse")
	}
	if q := (Question{Capability: DeleteKeyring}); !Management.Allows(q) || !Management.Explain(q).Allowed || New().Allows(q) {
		t.Error("management may not do everything, or no policy may do something")
	}
}

func TestSeveralPoliciesActAsOne(t *testing.T) {
	read := parse(t, "read", `namespace "default" { policy = "read" }`)
	deny := parse(t, "deny", `namespace "default" { policy = "deny" }`)
	logs := parse(t, "logs", `namespace "default" { capabilities = ["read-logs"] }`)
	all := parse(t, "all", `namespace "*" { policy = "write" }`)
	reads, logging := Question{Capability: ReadJob, Name: "default"}, Question{Capability: ReadLogs, Name: "default"}
	if a := New(read, logs); !a.Allows(reads) || !a.Allows(logging) {
		t.Error("rules with the same label are not joined")
	}
	if a := New(read, deny, logs); a.Allows(reads) {
		t.Error("deny does not win")
	}
	if a := New(all, read); a.Allows(logging) {
		t.Error("a pattern grants more although a rule names the namespace")
	}
}

func TestJSONIsHCL(t *testing.T) {
	a := New(parse(t, "json", `{"namespace": {"web-*": {"policy": "write", "variables": {"path": {"a/*": {"capabilities": ["read"]}}}}, "x": {"policy": "deny"}},
		"node": {"policy": "read"}, "operator": [{"capabilities": ["keyring-read"]}]}`))
	for _, q := range []Question{{Capability: SubmitJob, Name: "web-1"}, {Capability: ReadVariables, Name: "web-1", Path: "a/b"}, {Capability: ReadNode}, {Capability: ReadKeyring}} {
		if !a.Allows(q) {
			t.Errorf("%s %+v is refused: %s", q.Capability, q, a.Explain(q).Reason)
		}
	}
}

func TestInvalidRulesAreRejectedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		``:                                  "has no rules",
		`namespace "a" { policy = "raed" }`: `p:1:17: "raed" is no policy of this rule; did you mean "read"?`,
		"\n" + `namespace "a" { capabilities = ["submit-jobs"] }`:                             `p:2:17: "submit-jobs" is no capability of this rule; did you mean "submit-job"?`,
		`namespace "a" { polciy = "read" }`:                                                   `namespace has no argument "polciy"; did you mean "policy"?`,
		`namespaces "a" { policy = "read" }`:                                                  `p:1:1: a policy has no block "namespaces"; did you mean "namespace"?`,
		"namespace \"a\" {\n policy = \"read\"\n}\nnamespace \"a\" {\n policy = \"deny\"\n}":  `p:4:1: namespace "a" has a rule in line 1 already`,
		`namespace "a" "b" { policy = "read" }`:                                               "takes one label",
		`node_pool { policy = "read" }`:                                                       "takes one label, its name",
		`node "a" { policy = "read" }`:                                                        "node takes no label",
		`namespace "a" {}`:                                                                    "grants nothing: set variables or capabilities or policy",
		"namespace \"a\" {\n variables {}\n}":                                                 "variables grants nothing",
		`namespace "a" { variables = {} }`:                                                    "variables is a block",
		"namespace \"a\" {\n policy {}\n}":                                                    "policy is an argument",
		"namespace \"a\" {\n variables {\n  path \"/x\" { capabilities = [\"read\"] }\n }\n}": `write path "x"`,
		"namespace \"a\" {\n variables {\n  path \"x\" { policy = \"read\" }\n }\n}":          "path has no argument \"policy\"",
		`namespace "" { policy = "read" }`:                                                    "label of namespace is empty",
		`namespace "a" { policy = var.x }`:                                                    "p:1:26",
		`namespace "a" { policy = 3 }`:                                                        "is no policy of this rule",
		`namespace "a" { capabilities = "read-job" }`:                                         "capabilities is a list",
		`operator { capabilities = ["operator:read"] }`:                                       "is no capability of this rule",
		`sentinel { policy = "write" }`:                                                       "has no block \"sentinel\"",
		`{"namespace": {"a": {"polciy": "read"}}}`:                                            `did you mean "policy"?`,
		`{"namespace": 3}`:                                                                    "p:1:",
		`{"node": {"policy": "read"}, "node": {"policy": "deny"}}`:                            "already",
		`namespace "a" {`:                                                                     "p:1:",
		strings.Repeat("x = [", 1000):                                                         "nested more than 64 deep",
		"node { policy = \"read\" }" + strings.Repeat(" ", MaxText):                           "the maximum is",
		`namespace "` + strings.Repeat("a", 300) + `" { policy = "read" }`:                    "has 300 characters",
	} {
		p, err := Parse("p", text)
		if err == nil {
			t.Errorf("%.80s: accepted as %+v", text, p.Rules)
			continue
		}
		if !strings.Contains(err.Error()+fmt.Sprint(err), want) {
			t.Errorf("%.80s:\n%v\nlacks %q", text, err, want)
		}
	}
}

func TestNoLabelIsTheDefaultNamespace(t *testing.T) {
	if a := New(parse(t, "p", `namespace { policy = "read" }`)); !a.Allows(Question{Capability: ReadJob, Name: "default"}) || a.AllowsAny("other") {
		t.Error("a namespace without label is not the default one")
	}
}

func TestCapabilitiesHaveUniqueNames(t *testing.T) {
	for c := None + 1; c < capabilities; c++ {
		if back, ok := Named(c.String()); !ok || back != c || names[c] == "" {
			t.Errorf("%d is named %q, which is %d", c, c.String(), back)
		}
		if bit(c) == 0 || bit(c) == denied {
			t.Errorf("%s has no bit of its own", c)
		}
	}
}

// TestVerdictsAreBounded asks about more namespaces than an ACL remembers.
func TestVerdictsAreBounded(t *testing.T) {
	a := New(parse(t, "team", team))
	for i := range 10 * remembered {
		if !a.Allows(Question{Capability: ReadJob, Name: fmt.Sprint("n", i)}) {
			t.Fatal("refused")
		}
	}
	if n := len(*a.found[Namespace].verdicts.Load()); n > remembered {
		t.Errorf("%d verdicts are kept, the maximum is %d", n, remembered)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(team)
	f.Add(`{"namespace": {"default": {"policy": "read"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("p", text)
		if err != nil {
			return
		}
		a := New(p)
		for c := None + 1; c < capabilities; c++ {
			q := Question{Capability: c, Name: "a", Path: "b"}
			if a.Allows(q) != reference([]*Policy{p}, q) && c < ReadNode {
				t.Errorf("%s differs from the reference", c)
			}
		}
	})
}

// many makes n policies of n rules, half of them patterns.
func many(b testing.TB, n int) []*Policy {
	var policies []*Policy
	for i := range n {
		var text strings.Builder
		for j := range n {
			star := []string{"", "*"}[j%2]
			fmt.Fprintf(&text, "namespace \"team-%d-%d%s\" { policy = \"read\" }\n", i, j, star)
		}
		policies = append(policies, parse(b, fmt.Sprint("policy-", i), text.String()))
	}
	return policies
}

func BenchmarkHit(b *testing.B) {
	a := New(many(b, 100)...)
	q := Question{Capability: ReadJob, Name: "team-7-21-x"}
	if !a.Allows(q) {
		b.Fatal("refused")
	}
	b.ReportAllocs()
	for b.Loop() {
		a.Allows(q)
	}
}

// BenchmarkMiss combines 100 policies of 100 rules, and asks a first question.
func BenchmarkMiss(b *testing.B) {
	policies := many(b, 100)
	q := Question{Capability: ReadJob, Name: "team-7-21-x"}
	b.ReportAllocs()
	for b.Loop() {
		if !New(policies...).Allows(q) {
			b.Fatal("refused")
		}
	}
}

func BenchmarkVariable(b *testing.B) {
	a := New(parse(b, "team", team))
	q := Question{Capability: ReadVariables, Name: "web-shop", Path: "web/db"}
	b.ReportAllocs()
	for b.Loop() {
		if !a.Allows(q) {
			b.Fatal("refused")
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		parse(b, "team", team)
	}
}
