// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// ACLAuthMethods writes a list of auth methods.
func ACLAuthMethods(p *term.Page, list []*api.ACLAuthMethodStub) {
	var rows [][]string
	for _, m := range list {
		rows = append(rows, []string{m.Name, m.Type, strconv.FormatBool(m.Default)})
	}
	p.Table([]string{"Name", "Type", "Default"}, rows)
}

// ACLAuthMethod writes one auth method.
func ACLAuthMethod(p *term.Page, m *api.ACLAuthMethod) {
	c := m.Config
	p.Fields(
		term.Field{"Name", m.Name},
		term.Field{"Type", m.Type},
		term.Field{"Default", strconv.FormatBool(m.Default)},
		term.Field{"Locality", m.TokenLocality},
		term.Field{"Max token TTL", m.MaxTokenTTL.String()},
		term.Field{"Token name", m.TokenNameFormat},
		term.Field{"Discovery URL", c.OIDCDiscoveryURL},
		term.Field{"JWKS URL", c.JWKSURL},
		term.Field{"Public keys", countOf(len(c.JWTValidationPubKeys))},
		term.Field{"Client ID", c.OIDCClientID},
		term.Field{"Client secret", c.OIDCClientSecret},
		term.Field{"Scopes", strings.Join(c.OIDCScopes, ", ")},
		term.Field{"Redirect URIs", strings.Join(c.AllowedRedirectURIs, ", ")},
		term.Field{"Audiences", strings.Join(c.BoundAudiences, ", ")},
		term.Field{"Issuers", strings.Join(c.BoundIssuer, ", ")},
		term.Field{"Algorithms", strings.Join(c.SigningAlgs, ", ")},
		term.Field{"Modify index", strconv.FormatUint(m.ModifyIndex, 10)})
	claims(p, "Claims", "value.", c.ClaimMappings)
	claims(p, "Lists of claims", "list.", c.ListClaimMappings)
}

// claims writes what the claims of users are called in selectors.
func claims(p *term.Page, title, prefix string, mappings map[string]string) {
	if len(mappings) == 0 {
		return
	}
	p.Section(title)
	for _, claim := range slices.Sorted(maps.Keys(mappings)) {
		p.Line("%s -> %s%s", claim, prefix, mappings[claim])
	}
}

// countOf returns a number; "" for none.
func countOf(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// ACLBindingRules writes a list of binding rules.
func ACLBindingRules(p *term.Page, list []*api.ACLBindingRuleStub) {
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{api.ShortID(r.ID), r.AuthMethod, human.Dash(r.Description)})
	}
	p.Table([]string{"ID", "Auth method", "Description"}, rows)
}

// ACLBindingRule writes one binding rule.
func ACLBindingRule(p *term.Page, r *api.ACLBindingRule) {
	p.Fields(
		term.Field{"ID", r.ID},
		term.Field{"Description", r.Description},
		term.Field{"Auth method", r.AuthMethod},
		term.Field{"Selector", orWord(r.Selector, "all users")},
		term.Field{"Bind type", r.BindType},
		term.Field{"Bind name", r.BindName},
		term.Field{"Modify index", strconv.FormatUint(r.ModifyIndex, 10)})
}
