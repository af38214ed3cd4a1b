// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestMethodsAndRulesBelongTogether(t *testing.T) {
	s, index := loginStore(t), uint64(10)
	apply := func(c Command) error {
		index++
		return s.Apply(index, []Command{c})[0]
	}
	second := goldenAuthMethod()
	second.Method.Name = "other"
	retyped := goldenAuthMethod()
	retyped.Method.Type = api.ACLAuthMethodJWT
	stray := goldenBindingRule()
	stray.ID, stray.AuthMethod = "r2", "none"
	for what, c := range map[string]struct {
		command Command
		says    string
	}{
		"a second default":       {PutAuthMethod(second, nil), "is the default of the type OIDC already"},
		"another type":           {PutAuthMethod(retyped, nil), "keeps it"},
		"a method with rules":    {DeleteAuthMethod("sso"), "has binding rules"},
		"a rule without method":  {PutBindingRule(stray, nil), "does not exist"},
		"a method that is there": {PutAuthMethod(goldenAuthMethod(), ptr(uint64(0))), "modify index"},
		"no such rule":           {DeleteBindingRule("none"), "not found"},
	} {
		if err := apply(c.command); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", what, err, c.says)
		}
	}
	second.Method.Default = false
	for _, c := range []Command{PutAuthMethod(second, nil), PutAuthMethod(goldenAuthMethod(), nil), DeleteBindingRule(goldenBindingRule().ID), DeleteAuthMethod("sso")} {
		if err := apply(c); err != nil {
			t.Errorf("%s: %v", c.Name(), err)
		}
	}
	if v := s.Snapshot(); v.DefaultAuthMethod(api.ACLAuthMethodOIDC) != nil || v.AuthMethod("other") == nil {
		t.Error("the wrong method is left")
	}
}
