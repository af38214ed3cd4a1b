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

// observedFor is how long a request keeps the stack that served it.
const observedFor = time.Hour

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
		if n := x.find(use.Stack.Namespace, use.Stack.ID); n != nil && use.Caller != n.stack.Name {
			n.uses = append(n.uses, use)
		}
	}
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

// connectExposures gives each host name to the lowest major version that exposes it: a new
// major version takes a host name over only when the older one is gone.
func (u *unit) connectExposures() {
	taken := make(map[string]bool)
	for i := range u.majors {
		m := &u.majors[i]
		var hosts []string
		for _, n := range m.routable {
			for _, e := range exposures(n.stack) {
				if !taken[e.Host] {
					taken[e.Host] = true
					hosts = append(hosts, e.Host)
				}
			}
		}
		if len(hosts) == 0 {
			continue
		}
		host := slices.Min(hosts)
		m.target.exposed = host
		if m.shift != nil {
			m.from.exposed, m.to.exposed = host, host
		}
	}
}

func exposures(s *api.Stack) []*api.StackExposure {
	if s.Spec == nil {
		return nil
	}
	return s.Spec.Expose
}

func (u *unit) connectTags() {
	for _, rules := range []*api.Unit{u.rules, u.global} {
		for _, tag := range sortedTags(rules) {
			for i := range u.nodes {
				if n := &u.nodes[i]; n.tag == "" && n.stack.Version == rules.Tags[tag] {
					n.tag = tag
				}
			}
		}
	}
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
		if n.exposed != "" {
			edges = append(edges, Edge{From: n.exposed, To: n.stack.Key(), Share: x.ShareOf(n.stack), Kind: EdgeExposed})
		}
		if n.tag != "" {
			edges = append(edges, Edge{From: n.tag, To: n.stack.Key(), Kind: EdgeTag})
		}
		for _, use := range n.uses {
			if now.Sub(use.Last) < observedFor {
				edges = append(edges, Edge{From: use.Caller, To: n.stack.Key(), Share: 1, Kind: EdgeObserved})
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
	for _, text := range []string{n.exposed, n.tag} {
		if text != "" {
			callers = append(callers, text)
		}
	}
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
