// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"strconv"
	"strings"
)

// A Decision is the answer to a question, with its reason.
type Decision struct {
	Allowed bool
	Reason  string  // one sentence without a full stop, with the next step after a refusal
	Rules   []*Rule // that decided; empty if none matches
}

// Explain answers a question as Allows does, and adds the reason.
func (a *ACL) Explain(q Question) Decision {
	if a.management {
		return Decision{Allowed: true, Reason: "a management token may do everything"}
	}
	v := a.decide(q)
	if a.limit != nil && v.set.Has(q.Capability) {
		most := a.limit.Explain(q)
		if !most.Allowed {
			most.Reason = "the token that created this one may not do it: " + most.Reason
			return most
		}
	}
	d := Decision{Allowed: v.set.Has(q.Capability), Rules: v.rules}
	object := q.Object()
	if !d.Allowed && a.besides != nil && !v.set.IsDenied() {
		if also := a.besides.Explain(q); also.Allowed || len(a.policies) == 0 {
			return also
		}
	}
	switch {
	case d.Allowed:
		d.Reason = "granted by " + cite(v.rules, func(r *Rule) bool { return r.Set.Has(q.Capability) })
	case v.set.IsDenied():
		d.Reason = cite(v.rules, func(r *Rule) bool { return r.Set.IsDenied() }) + " denies everything for " + object
	case len(v.rules) > 0:
		d.Reason = q.lacks(v)
	case len(a.policies) == 0:
		d.Reason = "no policy grants anything to this caller: ask for a policy with " + q.example()
	default:
		d.Reason = "no rule of " + a.list() + " is for " + object + ": add " + q.example()
	}
	return d
}

// lacks explains why deciding rules without the capability refuse it.
func (q Question) lacks(v *verdict) string {
	text := cite(v.rules, nil) + " decides about " + q.Object() + " and grants "
	if v.set.isEmpty() {
		text += "nothing"
	} else {
		text += v.set.list(q.Capability.Scope())
	}
	scope := q.Capability.Scope()
	if _, listable := listed[scope][names[q.Capability]]; !listable || scope > Operator || scope == Node || scope == Agent {
		_, level, _ := strings.Cut(names[q.Capability], ":")
		return text + ": set policy = " + strconv.Quote(level)
	}
	return text + ": add " + strconv.Quote(names[q.Capability]) + " to its capabilities"
}

// Object names what a question is about.
func (q Question) Object() string {
	switch q.Capability.Scope() {
	case Namespace:
		return "namespace " + strconv.Quote(q.Name)
	case Variables:
		return "variable " + strconv.Quote(q.Path) + " in namespace " + strconv.Quote(q.Name)
	case NodePool:
		return "node pool " + strconv.Quote(q.Name)
	case HostVolume:
		return "host volume " + strconv.Quote(q.Name)
	}
	return kinds[q.Capability.Scope()]
}

// example returns a rule that would permit what was asked.
func (q Question) example() string {
	scope := q.Capability.Scope()
	grant := "{ capabilities = [" + strconv.Quote(names[q.Capability]) + "] }"
	switch {
	case scope == Variables:
		return "`path " + strconv.Quote(q.Path) + " " + grant + "` to the block variables of a rule for this namespace"
	case scope.isLabeled():
		return "`" + kinds[scope] + " " + strconv.Quote(q.Name) + " " + grant + "`"
	}
	if _, level, ok := strings.Cut(names[q.Capability], ":"); ok {
		grant = "{ policy = " + strconv.Quote(level) + " }"
	}
	return "`" + kinds[scope] + " " + grant + "`"
}

// cite describes the rules for which a condition holds; nil: all.
func cite(rules []*Rule, holds func(*Rule) bool) string {
	var texts []string
	for _, r := range rules {
		if holds == nil || holds(r) {
			texts = append(texts, r.String())
		}
	}
	return join(texts)
}

// list names the policies of the caller.
func (a *ACL) list() string {
	var texts []string
	for _, p := range a.policies {
		texts = append(texts, strconv.Quote(p.Name))
	}
	if len(texts) == 1 {
		return "policy " + texts[0]
	}
	return "policies " + join(texts)
}

// shown bounds the parts of an enumeration.
const shown = 5

// join enumerates texts.
func join(texts []string) string {
	if n := len(texts); n > shown {
		texts = append(texts[:shown:shown], strconv.Itoa(n-shown)+" more")
	}
	if n := len(texts); n > 1 {
		return strings.Join(texts[:n-1], ", ") + " and " + texts[n-1]
	}
	return strings.Join(texts, "")
}
