// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/idp"
)

func TestClaimsBecomeNames(t *testing.T) {
	key := newKey(t)
	p := provider(t, jwtMethod(pemOf(t, &key.PublicKey)))
	for what, c := range map[string]struct {
		changes map[string]any
		want    *Identity
	}{
		"everything": {
			map[string]any{"admin": true, "nested": map[string]any{"team": 7}, "groups": []any{"a", 1, false}, "other": map[string]any{}},
			&Identity{map[string]string{"user": "ana", "admin": "true", "team": "7"}, map[string][]string{"groups": {"a", "1", "false"}}},
		},
		"nothing": {
			map[string]any{"sub": nil},
			&Identity{map[string]string{"user": "", "admin": "", "team": ""}, map[string][]string{"groups": {}}},
		},
		"one group": {
			map[string]any{"groups": "a", "nested": "no object"},
			&Identity{map[string]string{"user": "ana", "admin": "", "team": ""}, map[string][]string{"groups": {"a"}}},
		},
	} {
		got, err := p.Verify(t.Context(), idp.SignWith(t, jose.ES256, key, valid(c.changes)), now)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

var ana = &Identity{
	Value: map[string]string{"user": "ana", "team": "web", "evil": "../${value.team}", "long": strings.Repeat("x", 200), "empty": ""},
	List:  map[string][]string{"groups": {"dev", "ops"}, "none": {}},
}

func TestRulesGiveRights(t *testing.T) {
	rule := func(selector, kind, name string) *api.ACLBindingRule {
		return &api.ACLBindingRule{ID: "r", AuthMethod: "ci", Selector: selector, BindType: kind, BindName: name}
	}
	for what, c := range map[string]struct {
		rules   []*api.ACLBindingRule
		want    Binding
		ignored string
	}{
		"no rules":                    {nil, Binding{}, ""},
		"no selector":                 {[]*api.ACLBindingRule{rule("", "role", "web-dev")}, Binding{Roles: []string{"web-dev"}}, ""},
		"a value":                     {[]*api.ACLBindingRule{rule(`value.team == "web"`, "policy", "readers")}, Binding{Policies: []string{"readers"}}, ""},
		"another value":               {[]*api.ACLBindingRule{rule(`value.team == "db"`, "policy", "readers")}, Binding{}, ""},
		"a list":                      {[]*api.ACLBindingRule{rule(`"ops" in list.groups and value.user != "bob"`, "management", "")}, Binding{Management: true}, ""},
		"another list":                {[]*api.ACLBindingRule{rule(`"ops" in list.none`, "management", "")}, Binding{}, ""},
		"a part of a group":           {[]*api.ACLBindingRule{rule(`"op" in list.groups`, "management", "")}, Binding{}, ""},
		"an expression":               {[]*api.ACLBindingRule{rule(`value.user matches "^a.a$"`, "policy", "readers")}, Binding{Policies: []string{"readers"}}, ""},
		"a name of a claim":           {[]*api.ACLBindingRule{rule("", "role", "${value.team}-dev")}, Binding{Roles: []string{"web-dev"}}, ""},
		"a claim that is no name":     {[]*api.ACLBindingRule{rule("", "policy", "x${value.evil}")}, Binding{}, "not a valid name"},
		"a claim that is too long":    {[]*api.ACLBindingRule{rule("", "policy", "${value.long}")}, Binding{}, "not a valid name"},
		"a claim that the user lacks": {[]*api.ACLBindingRule{rule("", "policy", "${value.empty}")}, Binding{}, "not a valid name"},
		"an unknown claim":            {[]*api.ACLBindingRule{rule(`value.none == ""`, "management", "")}, Binding{}, "names value.none"},
		"a negated unknown claim":     {[]*api.ACLBindingRule{rule(`value.none != "x"`, "management", "")}, Binding{}, "names value.none"},
		"no selector at all":          {[]*api.ACLBindingRule{rule(`value.team =`, "management", "")}, Binding{}, "cannot be read"},
		"the same twice":              {[]*api.ACLBindingRule{rule("", "role", "a"), rule("", "role", "a"), rule("", "policy", "a")}, Binding{Roles: []string{"a"}, Policies: []string{"a"}}, ""},
	} {
		got := Bind(c.rules, ana)
		ignored := strings.Join(got.Ignored, "; ")
		if (c.ignored == "") != (ignored == "") || !strings.Contains(ignored, c.ignored) {
			t.Errorf("%s: ignored %q, want %q", what, ignored, c.ignored)
		}
		got.Ignored = nil
		if diff := cmp.Diff(&c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	var many []*api.ACLBindingRule
	for i := range 2 * mostBound {
		many = append(many, rule("", "role", strings.Repeat("r", i%128+1)), rule("", "policy", strings.Repeat("p", i%128+1)))
	}
	if got := Bind(many, ana); len(got.Roles)+len(got.Policies) != mostBound {
		t.Errorf("%d roles and policies, want %d", len(got.Roles)+len(got.Policies), mostBound)
	}
}

func TestRulesAreCheckedWithTheirMethod(t *testing.T) {
	m := jwtMethod()
	for _, c := range []struct{ selector, name, says string }{
		{`value.user == "ana" and "a" in list.groups`, "x-${value.team}", ""},
		{"", "x", ""},
		{`value.usr == "ana"`, "x", "value.(admin, team, user)"},
		{`user == "ana"`, "x", "names user"},
		{`any list.groups as g { g == "a" and value.none != "b" }`, "x", "names value.none"},
		{`any list.groups as g { g == "a" }`, "x", ""},
		{`not value.none is empty`, "x", "names value.none"},
		{`value == ""`, "x", "names value"},
		{`value.user ==`, "x", "cannot be read"},
		{strings.Repeat("(", 2000) + `value.user == ""` + strings.Repeat(")", 2000), "x", "cannot be read"},
		{"", "x-${value.none}", "known are value.admin, value.team, value.user"},
		{"", "x-${value.user", "without a }"},
	} {
		err := CheckRule(m, &api.ACLBindingRule{Selector: c.selector, BindType: "role", BindName: c.name})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%.60s, %s: %v, want %q", c.selector, c.name, err, c.says)
		}
	}
}

func TestTokensHaveANameOfClaims(t *testing.T) {
	m := &api.ACLAuthMethod{Name: "ci", Type: api.ACLAuthMethodJWT, MaxTokenTTL: time.Hour, Config: &api.ACLAuthMethodConfig{}}
	id := &Identity{Value: map[string]string{"user": "ana\n\x1b[31m\xff", "long": strings.Repeat("é", 300)}}
	for format, want := range map[string]string{
		"": "JWT-ci", "${value.user}": "ana[31m", "a ${auth_method_name} b": "a ci b", "${value.long}": strings.Repeat("é", 128), "$${": "", "${value.x}": "", "plain": "plain",
	} {
		m.TokenNameFormat = format
		got, err := TokenName(m, id)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", format, got, err, want)
		}
	}
}
