// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Input holds the stored objects that decisions are based on, at one time.
type Input struct {
	Stacks []*api.Stack // all that are not terminated
	Units  []*api.Unit
	Shifts []*api.Shift // those that have not ended; others are ignored
	Uses   []Use
}

// A Use is a caller that sends requests to a stack without a declared dependency.
type Use struct {
	Stack api.NamespacedID // that served the last request
	api.StackUse
}

// An Index finds stacks by namespace, unit and major version. It is immutable.
type Index struct {
	units  map[unitKey]*unit
	order  []*unit // by namespace and name
	nodes  []node  // by unit, in ascending order of version and age
	byName map[api.NamespacedID]int
}

type unitKey struct{ namespace, name string }

// A unit holds the stacks of one unit in one namespace.
type unit struct {
	unitKey
	rules  *api.Unit // of the namespace; may be nil
	global *api.Unit // of all namespaces; may be nil
	first  int       // of its nodes in Index.nodes
	nodes  []node
	majors []major           // in ascending order
	hosts  map[string]uint32 // major versions that have the exposed hosts
}

// A major holds the routable stacks of one major version of a unit.
type major struct {
	number   uint32
	routable []*node // in ascending order of version and age
	target   *node   // receives all traffic while no shift runs; nil: none is routable
	shift    *api.Shift
	from, to *node // of the shift
}

// A node is a stack with what points to it.
type node struct {
	stack   *api.Stack
	unit    *unit
	uses    []Use
	callers []*api.Stack // with declared dependencies that resolve to the stack
	exposed []string     // host names whose traffic it receives, in order
	tags    []string     // tags of its version, in order
	shifted bool         // reports whether it is an end of a running shift
	target  bool         // reports whether it is the target of its major version
}

// NewIndex sorts the stacks by unit and computes the graph of callers.
func NewIndex(in Input) *Index {
	x := &Index{units: make(map[unitKey]*unit), byName: make(map[api.NamespacedID]int, len(in.Stacks))}
	stacks := slices.Clone(in.Stacks)
	slices.SortFunc(stacks, compareStacks)
	x.nodes = make([]node, len(stacks))
	for i, s := range stacks {
		x.nodes[i].stack = s
		x.byName[s.Key()] = i
	}
	for start := 0; start < len(stacks); {
		end := start + 1
		for end < len(stacks) && stacks[end].Namespace == stacks[start].Namespace && stacks[end].Unit == stacks[start].Unit {
			end++
		}
		u := &unit{unitKey: unitKey{stacks[start].Namespace, stacks[start].Unit}, first: start, nodes: x.nodes[start:end]}
		x.units[u.unitKey] = u
		x.order = append(x.order, u)
		start = end
	}
	x.addRules(in.Units)
	for _, u := range x.order {
		u.splitMajors()
	}
	x.addShifts(in.Shifts)
	for _, u := range x.order {
		u.chooseTargets()
	}
	x.connect(in.Uses)
	return x
}

// compareStacks orders stacks by namespace, unit, version, age and name.
func compareStacks(a, b *api.Stack) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Unit, b.Unit), compareVersions(a, b))
}

// compareVersions orders stacks of a unit by version, then by age: the newest comes last.
func compareVersions(a, b *api.Stack) int {
	return cmp.Or(a.Version.Compare(b.Version), a.DeployedAt.Compare(b.DeployedAt), strings.Compare(a.Name, b.Name))
}

func (x *Index) addRules(rules []*api.Unit) {
	global := make(map[string]*api.Unit)
	for _, r := range rules {
		if r.Namespace == api.AnyNamespace {
			global[r.Name] = r
		} else if u := x.units[unitKey{r.Namespace, r.Name}]; u != nil {
			u.rules = r
		}
	}
	for _, u := range x.order {
		u.global = global[u.name]
	}
}

func (u *unit) splitMajors() {
	for i := range u.nodes {
		n := &u.nodes[i]
		n.unit = u
		if !n.stack.IsRoutable() {
			continue
		}
		if last := len(u.majors) - 1; last < 0 || u.majors[last].number != n.stack.Version.Major {
			u.majors = append(u.majors, major{number: n.stack.Version.Major})
		}
		m := &u.majors[len(u.majors)-1]
		m.routable = append(m.routable, n)
	}
}

// addShifts notes the running shifts. One divides traffic if both of its ends are routable;
// it keeps its ends in any case.
func (x *Index) addShifts(shifts []*api.Shift) {
	for _, s := range shifts {
		from, to := x.find(s.Namespace, s.From), x.find(s.Namespace, s.To)
		if !s.IsActive() {
			continue
		}
		for _, end := range []*node{from, to} {
			if end != nil {
				end.shifted = true
			}
		}
		if from == nil || to == nil || !from.stack.IsRoutable() || !to.stack.IsRoutable() {
			continue
		}
		if m := from.unit.major(s.Major); m != nil {
			m.shift, m.from, m.to = s, from, to
		}
	}
}

// chooseTargets chooses the stack of each major version that receives all traffic while
// no shift runs: the stored one as long as it is routable, otherwise the newest that is
// not deprecated, otherwise the newest. No shift leads to a stack that has no port, so a
// stored target without one does not count.
func (u *unit) chooseTargets() {
	for i := range u.majors {
		m := &u.majors[i]
		if u.rules != nil {
			if name := u.rules.Targets[m.number]; name != "" {
				if m.target = m.named(name); m.target != nil && !isShiftable(m.target.stack.Shape) {
					m.target = nil
				}
			}
		}
		if m.target == nil && m.shift != nil {
			m.target = m.from
		}
		if m.target == nil {
			m.target = m.newest(func(n *node) bool { return !n.isDeprecated() })
		}
		if m.target == nil {
			m.target = m.newest(func(*node) bool { return true })
		}
		m.target.target = true
	}
}

// isShiftable reports whether traffic can be shifted to stacks of a shape.
func isShiftable(shape string) bool {
	switch shape {
	case api.ShapeWorker, api.ShapePeriodic, api.ShapeParameterized:
		return false
	}
	return true
}

func (m *major) named(name string) *node {
	for _, n := range m.routable {
		if n.stack.Name == name {
			return n
		}
	}
	return nil
}

// newest returns the routable stack with the highest version that qualifies, or nil.
func (m *major) newest(qualifies func(*node) bool) *node {
	for _, n := range slices.Backward(m.routable) {
		if qualifies(n) {
			return n
		}
	}
	return nil
}

// major returns a major version of the unit, or nil if none of its stacks is routable.
func (u *unit) major(number uint32) *major {
	for i := range u.majors {
		if u.majors[i].number == number {
			return &u.majors[i]
		}
	}
	return nil
}

func (x *Index) find(namespace, name string) *node {
	if i, ok := x.byName[api.NamespacedID{Namespace: namespace, ID: name}]; ok {
		return &x.nodes[i]
	}
	return nil
}

func (n *node) isDeprecated() bool {
	v := n.stack.Version.Feature()
	return n.unit.rules.IsDeprecated(v) || n.unit.global.IsDeprecated(v)
}

// StatusOf returns the status of a stack as users see it: ready stacks of a deprecated
// feature version are deprecated.
func (x *Index) StatusOf(s *api.Stack) string {
	if n := x.find(s.Namespace, s.Name); n != nil && s.Status == api.StackReady && n.isDeprecated() {
		return api.StackDeprecated
	}
	return s.Status
}

// parentOf returns the namespace around a namespace, or false for a namespace at the top.
func parentOf(namespace string) (string, bool) {
	i := strings.LastIndexByte(namespace, '/')
	return namespace[:max(i, 0)], i > 0
}
