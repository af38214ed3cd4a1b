// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A Target is the answer to a caller that asks for a unit: one stack, or the two stacks
// of a running shift.
type Target struct {
	Stack *api.Stack // receives the share that Next does not receive; nil: unresolved
	Next  *api.Stack // newer end of a running shift; nil: Stack receives everything
	Share float64    // of Next, from 0 to 1
}

// A Part is a stack with its part of the traffic.
type Part struct {
	Stack *api.Stack
	Share float64 // from 0 to 1
}

// parts returns the stacks of a target with their shares, the newer end of a shift first. A
// target without a shift has one part.
func (t Target) parts() [2]Part { return [2]Part{{t.Next, t.Share}, {t.Stack, 1 - t.Share}} }

// Resolve finds the stacks that serve a caller in a namespace which wants a feature version of a
// unit. It looks in the namespace, then in the namespaces around it, and stops at the
// first with a routable stack of the unit's major version. There it chooses the pair of a
// running shift if both stacks satisfy the version, otherwise the current target if it
// does, otherwise the newest stack that does and is not deprecated.
func (x *Index) Resolve(namespace, unit string, want api.FeatureVersion) Target {
	for ok := true; ok; namespace, ok = parentOf(namespace) {
		if u := x.units[unitKey{namespace, unit}]; u != nil {
			if m := u.major(want.Major); m != nil {
				return m.resolve(want)
			}
		}
	}
	return Target{}
}

func (m *major) resolve(want api.FeatureVersion) Target {
	satisfies := func(n *node) bool { return n.stack.Version.Satisfies(want) }
	switch {
	case m.shift != nil && satisfies(m.from) && satisfies(m.to):
		return Target{Stack: m.from.stack, Next: m.to.stack, Share: m.shift.Share}
	case satisfies(m.target):
		return Target{Stack: m.target.stack}
	}
	if n := m.newest(func(n *node) bool { return satisfies(n) && !n.isDeprecated() }); n != nil {
		return Target{Stack: n.stack}
	}
	return Target{}
}

// Shares returns how the traffic of a unit's major version is divided when callers want
// no minor version: the current target, or the pair of a running shift.
func (x *Index) Shares(namespace, unit string, number uint32) Target {
	u := x.units[unitKey{namespace, unit}]
	if u == nil {
		return Target{}
	}
	m := u.major(number)
	if m == nil {
		return Target{}
	}
	return m.resolve(api.FeatureVersion{Major: number})
}

// ShareOf returns the part of its major version's traffic that a stack receives, from 0 to 1.
func (x *Index) ShareOf(s *api.Stack) float64 {
	t := x.Shares(s.Namespace, s.Unit, s.Version.Major)
	switch {
	case t.Stack != nil && t.Stack.Name == s.Name:
		return 1 - t.Share
	case t.Next != nil && t.Next.Name == s.Name:
		return t.Share
	}
	return 0
}

// ShiftEndOf returns which end of a running shift that divides traffic a stack is, one of the
// api.ShiftEnd constants, or "".
func (x *Index) ShiftEndOf(s *api.Stack) string {
	n := x.find(s.Namespace, s.Name)
	if n == nil {
		return ""
	}
	if m := n.unit.major(s.Version.Major); m != nil && m.shift != nil {
		switch n {
		case m.from:
			return api.ShiftEndFrom
		case m.to:
			return api.ShiftEndTo
		}
	}
	return ""
}

// HostsElsewhere returns the hosts that a stack exposes and whose traffic another major
// version receives, in order.
func (x *Index) HostsElsewhere(s *api.Stack) (hosts []string) {
	n := x.find(s.Namespace, s.Name)
	if n == nil {
		return nil
	}
	for _, e := range exposures(s) {
		if owner, taken := n.unit.hosts[e.Host]; taken && owner != s.Version.Major {
			hosts = append(hosts, e.Host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// HostShareOf returns the part of the traffic of an exposed host that a stack receives, from
// 0 to 1.
func (x *Index) HostShareOf(s *api.Stack, host string) float64 {
	n := x.find(s.Namespace, s.Name)
	if n == nil || !slices.Contains(n.exposed, host) {
		return 0
	}
	return x.ShareOf(s)
}

// TagsOf returns the tags of a stack's version, in order.
func (x *Index) TagsOf(s *api.Stack) []string {
	if n := x.find(s.Namespace, s.Name); n != nil {
		return n.tags
	}
	return nil
}
