// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"maps"
	"sync/atomic"
)

// An ACL answers what a caller with certain policies may do. It may be used concurrently.
type ACL struct {
	management bool
	policies   []*Policy
	found      [HostVolume + 1]memory // Variables stays empty
	plain      [scopes]*verdict       // of scopes without labels
	some       [scopes]Set            // granted for some object
	besides    *ACL                   // grants more; nil: nothing
	limit      *ACL                   // permits at most what it permits; nil: everything
}

// A verdict is what the deciding rules permit.
type verdict struct {
	set   Set
	rules []*Rule
}

// Management is the ACL of callers who may do everything.
var Management = &ACL{management: true}

// New combines policies.
func New(policies ...*Policy) *ACL {
	a := &ACL{policies: policies}
	for scope := range scopes {
		for _, p := range policies {
			a.some[scope] |= p.some[scope]
		}
		if scope.isLabeled() {
			continue
		}
		v := new(verdict)
		for _, p := range policies {
			for _, r := range p.plain[scope] {
				v.set |= r.Set
				v.rules = append(v.rules, r)
			}
		}
		a.plain[scope] = v
	}
	return a
}

// IsManagement reports whether the caller may do everything.
func (a *ACL) IsManagement() bool { return a.management }

// A Question asks whether a caller may do something.
type Question struct {
	Capability Capability
	// Name is that of the namespace, the node pool or the host volume; "" in other scopes.
	Name string
	Path string // of a variable
}

// Allows answers a question.
func (a *ACL) Allows(q Question) bool {
	if a.management {
		return true
	}
	if a.limit != nil && !a.limit.Allows(q) {
		return false
	}
	var set Set
	if q.Capability.Scope() == Variables {
		s := searchPath(a.lookUp(Namespace, q.Name), q.Path, true)
		set = s.set
	} else {
		set = a.decide(q).set
	}
	return set.Has(q.Capability) || a.besides != nil && !set.IsDenied() && a.besides.Allows(q)
}

// AllowsAny reports whether the caller has a capability in a namespace.
func (a *ACL) AllowsAny(namespace string) bool { return !a.inNamespace(namespace).isEmpty() }

// inNamespace returns the capabilities in a namespace.
func (a *ACL) inNamespace(name string) Set {
	if a.management {
		return ^denied
	}
	set := a.lookUp(Namespace, name).set
	switch {
	case set.IsDenied():
		return denied
	case a.besides != nil:
		if more := a.besides.inNamespace(name); !more.IsDenied() {
			set |= more
		}
	}
	if a.limit != nil {
		most := a.limit.inNamespace(name)
		if most.IsDenied() {
			return denied
		}
		set &= most
	}
	return set
}

// AllowsAnywhere reports whether a rule of the caller might permit a capability for some object. It
// rejects hopeless requests before their object is known.
func (a *ACL) AllowsAnywhere(c Capability) bool {
	return a.management || a.some[c.Scope()].Has(c) && (a.limit == nil || a.limit.AllowsAnywhere(c))
}

// decide finds the deciding rules.
func (a *ACL) decide(q Question) *verdict {
	scope := q.Capability.Scope()
	switch {
	case scope == Variables:
		s := searchPath(a.lookUp(Namespace, q.Name), q.Path, false)
		return &verdict{set: s.set, rules: s.rules}
	case scope.isLabeled():
		return a.lookUp(scope, q.Name)
	}
	return a.plain[scope]
}

// searchPath decides about a variable. A denied namespace has no variables.
func searchPath(namespace *verdict, path string, noList bool) search {
	if namespace.set.IsDenied() {
		return search{set: namespace.set, rules: namespace.rules}
	}
	s := search{name: path, noList: noList}
	for _, r := range namespace.rules {
		s.add(&r.paths)
	}
	return s
}

// lookUp decides about a name in a scope with labels.
func (a *ACL) lookUp(scope Scope, name string) *verdict {
	if v := a.found[scope].get(name); v != nil {
		return v
	}
	s := search{name: name}
	for _, p := range a.policies {
		s.add(&p.labeled[scope])
	}
	v := &verdict{set: s.set, rules: s.rules}
	a.found[scope].put(name, v)
	return v
}

// remembered bounds the verdicts of a memory. Requests name any namespace, also unknown ones.
const remembered = 64

// A memory keeps verdicts by name. A read allocates nothing.
type memory struct {
	verdicts atomic.Pointer[map[string]*verdict]
}

func (m *memory) get(name string) *verdict {
	if known := m.verdicts.Load(); known != nil {
		return (*known)[name]
	}
	return nil
}

// put keeps a verdict. Of two concurrent calls, one may be lost.
func (m *memory) put(name string, v *verdict) {
	next := map[string]*verdict{}
	if known := m.verdicts.Load(); known != nil && len(*known) < remembered {
		next = maps.Clone(*known)
	}
	next[name] = v
	m.verdicts.Store(&next)
}
