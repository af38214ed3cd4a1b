// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A Deployable is a stack that a user wants to deploy.
type Deployable struct {
	Namespace string
	Unit      string
	Version   api.StackVersion
	Spec      *api.StackSpec
	HasPort   bool // reports whether callers can reach it: a port "default", or a single port
}

// A Refusal is a reason not to deploy a stack.
type Refusal struct {
	// Dependency is the position in StackSpec.Depends that is refused, Exposure the
	// position in StackSpec.Expose; -1: another part of the block.
	Dependency int
	Exposure   int
	Text       string // the problem and the next step
}

// CheckDeployment returns the reasons to refuse a deployment of several stacks, by position in the
// list, and the order to deploy them in: dependencies come before the stacks that call them. The
// stacks of the list may depend on each other.
func (x *Index) CheckDeployment(list []Deployable) (refusals map[int][]Refusal, order []int) {
	refusals = make(map[int][]Refusal)
	for i, d := range list {
		for j, dep := range d.Spec.Depends {
			if text := x.checkDependency(list, d, dep); text != "" {
				refusals[i] = append(refusals[i], Refusal{Dependency: j, Exposure: -1, Text: text})
			}
		}
		for j, e := range d.Spec.Expose {
			if owner := x.exposureOwner(e.Host); owner != "" && owner != d.Namespace+" "+d.Unit {
				namespace, unit, _ := strings.Cut(owner, " ")
				refusals[i] = append(refusals[i], Refusal{Dependency: -1, Exposure: j, Text: fmt.Sprintf(
					"host %q: unit %s in namespace %s exposes it; choose another host, or remove that unit's stacks first", e.Host, unit, namespace)})
			}
		}
	}
	order, cycles := x.sortDeployables(list)
	for i, path := range cycles {
		refusals[i] = append(refusals[i], Refusal{Dependency: -1, Exposure: -1, Text: "dependencies form a cycle: " + path + "; remove one of them"})
	}
	return refusals, order
}

// checkDependency returns what is wrong with a dependency, or "".
func (x *Index) checkDependency(list []Deployable, d Deployable, dep *api.StackDependency) string {
	for _, other := range list {
		if other.Unit == dep.Unit && isAround(other.Namespace, d.Namespace) && other.Version.Satisfies(dep.Wants()) {
			if !other.HasPort {
				return fmt.Sprintf("unit %s %s has no port \"default\" and not exactly one port: callers cannot reach it; name its port \"default\"", dep.Unit, other.Version)
			}
			return ""
		}
	}
	t := x.Resolve(d.Namespace, dep.Unit, dep.Wants())
	target := t.Stack
	if t.Next != nil {
		target = t.Next
	}
	switch {
	case target == nil && dep.Optional:
		return ""
	case target == nil:
		return x.explainMissing(d.Namespace, dep)
	case x.find(target.Namespace, target.Name).isDeprecated() && !dep.Optional:
		return fmt.Sprintf("%s is deprecated: nothing new may depend on %s@%s; depend on a newer version",
			target.Name, dep.Unit, target.Version.Feature())
	case target.Shape != api.ShapeService && target.Shape != api.ShapeExternal:
		return fmt.Sprintf("%s has no port \"default\" and not exactly one port: callers cannot reach it; name its port \"default\"", target.Name)
	}
	return ""
}

// explainMissing says why a dependency is missing, and names what exists instead.
func (x *Index) explainMissing(namespace string, dep *api.StackDependency) string {
	var live, dead []string
	for n, ok := namespace, true; ok; n, ok = parentOf(n) {
		if u := x.units[unitKey{n, dep.Unit}]; u != nil {
			for i := range u.nodes {
				s := u.nodes[i].stack
				if s.IsLive() {
					live = append(live, fmt.Sprintf("%s (%s)", s.Version, x.StatusOf(s)))
				} else {
					dead = append(dead, fmt.Sprintf("%s (%s)", s.Version, s.Status))
				}
			}
		}
	}
	wanted := fmt.Sprintf("no ready stack of unit %s satisfies version %s in namespace %s or around it", dep.Unit, dep.Version, namespace)
	switch {
	case len(live) > 0:
		return wanted + ": it has " + strings.Join(live, ", ") + "; deploy a version that does, or mark the dependency optional"
	case len(dead) > 0:
		return wanted + ": it has only " + strings.Join(dead, ", ") + "; deploy it again, or rescue it with: reeve stack rescue"
	}
	return wanted + ": the unit has no stacks; deploy it first, or mark the dependency optional"
}

// exposureOwner returns "namespace unit" of the unit whose stacks expose a host, or "".
func (x *Index) exposureOwner(host string) string {
	for i := range x.nodes {
		if s := x.nodes[i].stack; s.IsLive() {
			for _, e := range exposures(s) {
				if strings.EqualFold(e.Host, host) {
					return s.Namespace + " " + s.Unit
				}
			}
		}
	}
	return ""
}

// isAround reports whether a namespace is another one, or one of those around it.
func isAround(outer, inner string) bool {
	return outer == inner || strings.HasPrefix(inner, outer+"/")
}

// A walk orders stacks so that dependencies come first, and finds cycles: through stacks of
// the list and stacks that exist.
type walk struct {
	index  *Index
	list   []Deployable
	listed map[unitKey][]int
	done   map[unitKey]bool
	path   []unitKey
	order  []int
	cycles map[int]string // path of a cycle, by the position of a stack of the list on it
}

func (x *Index) sortDeployables(list []Deployable) (order []int, cycles map[int]string) {
	w := &walk{index: x, list: list, listed: make(map[unitKey][]int), done: make(map[unitKey]bool), cycles: make(map[int]string)}
	for i, d := range list {
		key := unitKey{d.Namespace, d.Unit}
		w.listed[key] = append(w.listed[key], i)
	}
	for _, d := range list {
		w.visit(unitKey{d.Namespace, d.Unit})
	}
	return w.order, w.cycles
}

func (w *walk) visit(key unitKey) {
	if i := slices.Index(w.path, key); i >= 0 {
		w.noteCycle(append(slices.Clone(w.path[i:]), key))
		return
	}
	if w.done[key] {
		return
	}
	w.path = append(w.path, key)
	for _, dep := range w.dependencies(key) {
		if next, ok := w.unitOf(key.namespace, dep); ok {
			w.visit(next)
		}
	}
	w.path = w.path[:len(w.path)-1]
	w.done[key] = true
	w.order = append(w.order, w.listed[key]...)
}

// noteCycle notes the path of a cycle for the first unit of the list on it.
func (w *walk) noteCycle(path []unitKey) {
	names := make([]string, len(path))
	for i, key := range path {
		names[i] = key.name
	}
	for _, key := range path {
		for _, position := range w.listed[key] {
			w.cycles[position] = strings.Join(names, " -> ")
			return
		}
	}
}

// dependencies returns what the stacks of a unit depend on: those of the list, or the current
// targets.
func (w *walk) dependencies(key unitKey) (deps []*api.StackDependency) {
	for _, i := range w.listed[key] {
		deps = append(deps, w.list[i].Spec.Depends...)
	}
	if u := w.index.units[key]; u != nil && len(deps) == 0 {
		for i := range u.majors {
			if spec := u.majors[i].target.stack.Spec; spec != nil {
				deps = append(deps, spec.Depends...)
			}
		}
	}
	return deps
}

// unitOf finds the unit that a dependency resolves to, in a namespace or around it.
func (w *walk) unitOf(namespace string, dep *api.StackDependency) (unitKey, bool) {
	for ok := true; ok; namespace, ok = parentOf(namespace) {
		key := unitKey{namespace, dep.Unit}
		if u := w.index.units[key]; len(w.listed[key]) > 0 || u != nil && u.major(dep.Wants().Major) != nil {
			return key, true
		}
	}
	return unitKey{}, false
}
