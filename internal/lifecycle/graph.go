// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Kinds of edges.
const (
	EdgeDeclared = "declared" // a stack declares that it depends on a unit
	EdgeExposed  = "exposed"  // a host name sends traffic to a unit
	EdgeObserved = "observed" // a caller that declares nothing sends requests
	EdgeTag      = "tag"      // a tag names the version
)

// An Edge says that something uses a stack.
type Edge struct {
	From  string // name of a stack, a host name, a caller's address or a tag
	To    api.NamespacedID
	Want  string  // feature version that the caller declares; "": none
	Share float64 // of the caller's requests, from 0 to 1
	Kind  string  // one of the Edge constants
}

// ObservedFor is how long a request keeps the stack that served it.
const ObservedFor = time.Hour

// connect finds everything that points to a stack.
func (x *Index) connect(uses []Use) {
	x.declaredEdges(func(caller *api.Stack, to *node, _ *api.StackDependency, _ float64) {
		to.callers = append(to.callers, caller)
	})
	for _, u := range x.order {
		u.connectExposures()
		u.connectTags()
	}
	for _, use := range uses {
		for _, n := range x.usedBy(use) {
			if n.stack.Name != use.Caller { // a stack that calls its own unit does not keep itself alive
				n.uses = append(n.uses, use)
			}
		}
	}
}

// usedBy returns the stacks that the next request of a caller would reach: those that its feature
// version resolves to, as far as they have a share, otherwise the stack that served it last.
func (x *Index) usedBy(use Use) []*node {
	last := x.find(use.Stack.Namespace, use.Stack.ID)
	if last == nil {
		return nil
	}
	want, err := api.ParseFeatureVersion(use.Want)
	if use.Want == "" || err != nil {
		return []*node{last}
	}
	t := x.Resolve(last.stack.Namespace, last.stack.Unit, want)
	if t.Stack == nil {
		return []*node{last}
	}
	used := []*node{x.find(t.Stack.Namespace, t.Stack.Name)}
	if t.Next != nil {
		used = append(used, x.find(t.Next.Namespace, t.Next.Name))
	}
	return used
}

// declaredEdges calls add for every stack that a declared dependency of a live stack
// resolves to. A stack that calls its own unit does not keep itself alive.
func (x *Index) declaredEdges(add func(caller *api.Stack, to *node, dep *api.StackDependency, share float64)) {
	for i := range x.nodes {
		caller := x.nodes[i].stack
		if !caller.IsLive() || caller.Spec == nil {
			continue
		}
		for _, dep := range caller.Spec.Depends {
			t := x.Resolve(caller.Namespace, dep.Unit, dep.Wants())
			if t.Stack != nil && t.Stack != caller {
				add(caller, x.find(t.Stack.Namespace, t.Stack.Name), dep, 1-t.Share)
			}
			if t.Next != nil && t.Next != caller {
				add(caller, x.find(t.Next.Namespace, t.Next.Name), dep, t.Share)
			}
		}
	}
}

// connectExposures gives each exposed host to one major version: the lowest one of which a
// stack with a share of the traffic exposes the host. A new major version takes a host over
// only when the older one no longer serves it.
func (u *unit) connectExposures() {
	for i := range u.majors {
		t := u.majors[i].resolve(api.FeatureVersion{Major: u.majors[i].number})
		for _, part := range t.parts() {
			if part.Stack == nil || part.Share == 0 {
				continue
			}
			n := u.named(part.Stack)
			for _, e := range exposures(n.stack) {
				if u.hosts == nil {
					u.hosts = make(map[string]uint32)
				}
				if _, taken := u.hosts[e.Host]; !taken {
					u.hosts[e.Host] = u.majors[i].number
				}
				if u.hosts[e.Host] == u.majors[i].number {
					n.exposed = append(n.exposed, e.Host)
				}
			}
			slices.Sort(n.exposed)
		}
	}
}

// named returns the node of a stack of the unit.
func (u *unit) named(s *api.Stack) *node {
	for i := range u.nodes {
		if u.nodes[i].stack == s {
			return &u.nodes[i]
		}
	}
	return nil
}

func exposures(s *api.Stack) []*api.StackExposure {
	if s.Spec == nil {
		return nil
	}
	return s.Spec.Expose
}

// connectTags finds the tags of each stack. A tag of the namespace hides a tag of the same name
// of all namespaces.
func (u *unit) connectTags() {
	for _, rules := range []*api.Unit{u.rules, u.global} {
		if rules == nil {
			continue
		}
		for tag, version := range rules.Tags {
			if _, hidden := u.ownTag(tag); hidden && rules != u.rules {
				continue
			}
			for i := range u.nodes {
				if n := &u.nodes[i]; n.stack.Version == version {
					n.tags = append(n.tags, tag)
				}
			}
		}
	}
	for i := range u.nodes {
		slices.Sort(u.nodes[i].tags)
	}
}

// ownTag returns the version that a tag of the namespace names.
func (u *unit) ownTag(tag string) (api.StackVersion, bool) {
	if u.rules == nil {
		return api.StackVersion{}, false
	}
	v, ok := u.rules.Tags[tag]
	return v, ok
}

// Edges returns the graph at a time: an edge for everything that uses a stack, ordered by the
// stack that is used.
func (x *Index) Edges(now time.Time) []Edge {
	var edges []Edge
	x.declaredEdges(func(caller *api.Stack, to *node, dep *api.StackDependency, share float64) {
		edges = append(edges, Edge{From: caller.Name, To: to.stack.Key(), Want: dep.Version, Share: share, Kind: EdgeDeclared})
	})
	for i := range x.nodes {
		n := &x.nodes[i]
		for _, host := range n.exposed {
			edges = append(edges, Edge{From: host, To: n.stack.Key(), Share: x.ShareOf(n.stack), Kind: EdgeExposed})
		}
		for _, tag := range n.tags {
			edges = append(edges, Edge{From: tag, To: n.stack.Key(), Kind: EdgeTag})
		}
		for _, use := range n.uses {
			if now.Sub(use.Last) < ObservedFor {
				edges = append(edges, Edge{From: use.Caller, To: n.stack.Key(), Want: use.Want, Share: 1, Kind: EdgeObserved})
			}
		}
	}
	slices.SortStableFunc(edges, func(a, b Edge) int {
		if d := strings.Compare(a.To.Namespace, b.To.Namespace); d != 0 {
			return d
		}
		return strings.Compare(a.To.ID, b.To.ID)
	})
	return edges
}

// Callers returns what uses a stack: names of stacks, host names, tags and addresses.
func (x *Index) Callers(s *api.Stack) []string {
	callers := []string{}
	n := x.find(s.Namespace, s.Name)
	if n == nil {
		return callers
	}
	for _, c := range n.callers {
		callers = append(callers, c.Name)
	}
	callers = append(append(callers, n.exposed...), n.tags...)
	for _, use := range n.uses {
		callers = append(callers, use.Caller)
	}
	return callers
}

// IsTarget reports whether a stack is the target of its major version.
func (x *Index) IsTarget(s *api.Stack) bool {
	n := x.find(s.Namespace, s.Name)
	return n != nil && n.target
}

// ShiftOf returns the id of the running shift that a stack is an end of, or "".
func (x *Index) ShiftOf(s *api.Stack) string {
	n := x.find(s.Namespace, s.Name)
	if n == nil || !n.shifted {
		return ""
	}
	if m := n.unit.major(s.Version.Major); m != nil && m.shift != nil {
		return m.shift.ID
	}
	return ""
}
