// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// maxCallersShown bounds the callers that a verdict names.
const maxCallersShown = 10

// policyOf returns the policy of a stack: that of its unit if an operator set one,
// otherwise its own, otherwise the default of its shape.
func (n *node) policyOf() api.RetentionPolicy {
	for _, rules := range []*api.Unit{n.unit.rules, n.unit.global} {
		if rules != nil && rules.Policy != nil {
			return rules.Policy.Normalize()
		}
	}
	if n.stack.Spec != nil && n.stack.Spec.Policy != nil {
		return n.stack.Spec.Policy.Normalize()
	}
	return api.DefaultRetention(n.stack.Shape).Normalize()
}

// judge decides whether a ready stack is kept. Callers, traffic and tags keep a stack under
// every policy: a policy decides only about stacks that nothing uses.
func (n *node) judge(now time.Time) api.Verdict {
	policy := n.policyOf()
	v := n.use(now)
	if v.Reason == "" {
		v = n.judgeUnused(policy, now)
	}
	v.Policy, v.At = policy.Name, now
	return v
}

// use returns the verdict on a stack that something uses, or no reason.
func (n *node) use(now time.Time) api.Verdict {
	switch {
	case len(n.callers) > 0:
		v := api.Verdict{Kept: true, Reason: api.KeptCalled, CallerCount: len(n.callers)}
		for _, c := range n.callers[:min(len(n.callers), maxCallersShown)] {
			v.Callers = append(v.Callers, c.Name)
		}
		return v
	case n.shifted:
		return api.Verdict{Kept: true, Reason: api.KeptShift}
	case len(n.exposed) > 0:
		return api.Verdict{Kept: true, Reason: api.KeptExposed, Subject: n.exposed[0]}
	case len(n.tags) > 0:
		return api.Verdict{Kept: true, Reason: api.KeptTagged, Subject: n.tags[0]}
	}
	for _, use := range n.uses {
		if now.Sub(use.Last) < ObservedFor {
			return api.Verdict{Kept: true, Reason: api.KeptObserved, Subject: use.Caller}
		}
	}
	return api.Verdict{}
}

// judgeUnused applies the policy to a stack that nothing uses.
func (n *node) judgeUnused(policy api.RetentionPolicy, now time.Time) api.Verdict {
	kept := func(r api.VerdictReason) api.Verdict { return api.Verdict{Kept: true, Reason: r} }
	declined := func(r api.VerdictReason) api.Verdict { return api.Verdict{Reason: r} }
	switch policy.Name {
	case api.RetainAlways:
		return kept(api.KeptAlways)
	case api.RetainUntilDeprecated:
		if n.isDeprecated() {
			return declined(api.DeclinedDeprecated)
		}
		return kept(api.KeptCurrent)
	case api.RetainLatest:
		switch {
		case n.isDeprecated():
			return declined(api.DeclinedDeprecated)
		case n.isAmongLatest(policy):
			return kept(api.KeptLatest)
		}
		return declined(api.DeclinedOutdated)
	}
	if n.target && !n.isDeprecated() && now.Before(n.idleUntil()) {
		return kept(api.KeptIdle)
	}
	return declined(api.DeclinedUncalled)
}

// idleUntil returns when a target without callers is no longer kept.
func (n *node) idleUntil() time.Time {
	since := n.stack.RunningAt
	if n.stack.CalledAt.After(since) {
		since = n.stack.CalledAt
	}
	return since.Add(n.stack.Spec.IdleTime())
}

// isAmongLatest reports whether the stack's version is one of the unit's newest ready
// versions: it counts major versions, minor versions in each, and patches in each of
// those. Deprecated versions do not count. All stacks of one version are equal.
func (n *node) isAmongLatest(policy api.RetentionPolicy) bool {
	majors, features, patches := 0, 0, 0 // newer ones than the stack's
	var last *api.StackVersion
	for i := len(n.unit.nodes) - 1; i >= 0; i-- {
		other := &n.unit.nodes[i]
		v := other.stack.Version
		if v.Compare(n.stack.Version) <= 0 {
			break
		}
		if !other.stack.IsRoutable() || other.isDeprecated() || last != nil && *last == v {
			continue
		}
		switch {
		case v.Major != n.stack.Version.Major:
			if last == nil || last.Major != v.Major {
				majors++
			}
		case v.Minor != n.stack.Version.Minor:
			if last == nil || last.Feature() != v.Feature() {
				features++
			}
		default:
			patches++
		}
		last = &v
	}
	return majors < policy.Majors && features < policy.Features && patches < policy.Patches
}

// Fires reports whether a periodic stack starts children: it is the newest ready stack of its
// unit, or of its major or minor version if its policy keeps several of those.
func (x *Index) Fires(s *api.Stack) bool {
	n := x.find(s.Namespace, s.Name)
	if n == nil || !s.IsRoutable() {
		return false
	}
	policy := n.policyOf()
	for i := range n.unit.nodes {
		other := n.unit.nodes[i].stack
		sameMajor, sameFeature := other.Version.Major == s.Version.Major, other.Version.Feature() == s.Version.Feature()
		if !other.IsRoutable() || policy.Majors > 1 && !sameMajor || policy.Features > 1 && sameMajor && !sameFeature {
			continue
		}
		if compareVersions(other, s) > 0 {
			return false
		}
	}
	return true
}
