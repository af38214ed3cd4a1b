// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// ACLPolicies writes a list of policies.
func ACLPolicies(p *term.Page, list []*api.ACLPolicyListStub) {
	var rows [][]string
	for _, policy := range list {
		rows = append(rows, []string{policy.Name, human.Dash(policy.Description)})
	}
	p.Table([]string{"Name", "Description"}, rows)
}

// ACLPolicy writes one policy with its rules.
func ACLPolicy(p *term.Page, policy *api.ACLPolicy) {
	p.Fields(
		term.Field{"Name", policy.Name},
		term.Field{"Description", policy.Description},
		term.Field{"Namespace", policy.Namespace},
		term.Field{"Tasks", jobACL(policy.JobACL)},
		term.Field{"Modify index", strconv.FormatUint(policy.ModifyIndex, 10)})
	p.Section("Rules")
	for line := range strings.SplitSeq(strings.TrimRight(policy.Rules, "\n"), "\n") {
		p.Line("%s", line)
	}
}

// jobACL names the tasks that have a policy; "" if none has.
func jobACL(j *api.JobACL) string {
	if j == nil {
		return ""
	}
	text := "of namespace " + j.Namespace
	for _, part := range [][2]string{{"job", j.JobID}, {"group", j.Group}, {"task", j.Task}} {
		if part[1] != "" {
			text += ", " + part[0] + " " + part[1]
		}
	}
	return text
}

// ACLRoles writes a list of roles.
func ACLRoles(p *term.Page, list []*api.ACLRole) {
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{api.ShortID(r.ID), r.Name, human.Dash(rolePolicies(r)), human.Dash(r.Description)})
	}
	p.Table([]string{"ID", "Name", "Policies", "Description"}, rows)
}

// ACLRole writes one role.
func ACLRole(p *term.Page, r *api.ACLRole) {
	p.Fields(
		term.Field{"ID", r.ID},
		term.Field{"Name", r.Name},
		term.Field{"Description", r.Description},
		term.Field{"Policies", orWord(rolePolicies(r), "none")},
		term.Field{"Modify index", strconv.FormatUint(r.ModifyIndex, 10)})
}

func rolePolicies(r *api.ACLRole) string {
	var names []string
	for _, link := range r.Policies {
		names = append(names, link.Name)
	}
	return strings.Join(names, ", ")
}

// ACLTokens writes a list of tokens.
func ACLTokens(p *term.Page, list []*api.ACLTokenListStub) {
	var rows [][]string
	for _, t := range list {
		rows = append(rows, []string{
			api.ShortID(t.AccessorID), human.Dash(t.Name), t.Type, human.Dash(strings.Join(t.Policies, ", ")), human.Dash(roleNames(t.Roles)),
			human.Age(p.Now, t.CreateTime), tokenExpiry(p.Now, t.ExpirationTime),
		})
	}
	p.Table([]string{"Accessor", "Name", "Type", "Policies", "Roles", "Created", "Expires"}, rows)
}

// ACLToken writes one token, with its secret if it has one.
func ACLToken(p *term.Page, t *api.ACLToken) {
	policies, roles := strings.Join(t.Policies, ", "), roleNames(t.Roles)
	if t.Type != api.ACLTokenManagement {
		policies, roles = orWord(policies, "none"), orWord(roles, "none")
	}
	p.Fields(
		term.Field{"Accessor ID", t.AccessorID},
		term.Field{"Secret ID", t.SecretID},
		term.Field{"Name", t.Name},
		term.Field{"Type", t.Type},
		term.Field{"Policies", policies},
		term.Field{"Roles", roles},
		term.Field{"Namespace", t.Namespace},
		term.Field{"Created by", t.Creator},
		term.Field{"Created", human.Age(p.Now, t.CreateTime)},
		term.Field{"Expires", tokenExpiry(p.Now, t.ExpirationTime)},
		term.Field{"Modify index", strconv.FormatUint(t.ModifyIndex, 10)})
}

func roleNames(links []*api.ACLTokenRoleLink) string {
	var names []string
	for _, link := range links {
		names = append(names, link.Name)
	}
	return strings.Join(names, ", ")
}

// tokenExpiry returns when a token expires, in words.
func tokenExpiry(now time.Time, at *time.Time) string {
	switch {
	case at == nil:
		return "never"
	case !now.Before(*at):
		return "expired"
	}
	return human.Until(now, *at)
}

// ACLDecision writes whether a token may do something, and why.
func ACLDecision(p *term.Page, d *api.ACLDecision) {
	answer := p.Style.Red("refused")
	if d.Allowed {
		answer = p.Style.Green("allowed")
	}
	p.Fields(
		term.Field{"Answer", answer},
		term.Field{"Capability", d.Capability},
		term.Field{"Object", d.Object},
		term.Field{"Reason", d.Reason},
		term.Field{"Policies", strings.Join(d.Policies, ", ")})
}
