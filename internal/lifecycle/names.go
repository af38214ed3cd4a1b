// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A Name is a name of stacks in DNS and for routers: SELECTOR.UNIT.NAMESPACE below
// stack.ZONE. The namespace is that of the caller, written as in DNS: dev/sandbox is
// sandbox.dev.
type Name struct {
	Selector  string // 1 (major), 1-2 (at least), 1-2-0 (exact), or a tag
	Unit      string
	Namespace string
}

// ParseName splits a name in lower case, without ".stack.ZONE". It reports false for a name that
// is too short or has an empty label.
func ParseName(text string) (Name, bool) {
	selector, rest, _ := strings.Cut(text, ".")
	unit, namespace, _ := strings.Cut(rest, ".")
	ok := selector != "" && unit != "" && namespace != "" && namespace[0] != '.' && namespace[len(namespace)-1] != '.'
	return Name{selector, unit, namespace}, ok && !strings.Contains(namespace, "..")
}

// Namespaces yields the caller's namespace and the namespaces around it, as in DNS.
func (n Name) Namespaces(yield func(string) bool) {
	for rest := n.Namespace; rest != ""; {
		if !yield(rest) {
			return
		}
		_, rest, _ = strings.Cut(rest, ".")
	}
}

// NamespaceName returns the name of a namespace in DNS: the parent follows the child.
func NamespaceName(namespace string) string {
	namespace = strings.ToLower(namespace)
	if strings.IndexByte(namespace, '/') < 0 {
		return namespace
	}
	labels := strings.Split(namespace, "/")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

// A Selector is the parsed first label of a name.
type Selector struct {
	Version api.StackVersion
	Numbers int    // of the version that count: 1 (major), 2 (at least major.minor), 3 (exact); 0: a tag
	Tag     string // if Numbers is 0
}

// ParseSelector parses the first label of a name. It reports false for a label that is neither a
// version nor a tag.
func ParseSelector(label string) (Selector, bool) {
	if label == "" || label[0] < '0' || label[0] > '9' {
		return Selector{Tag: label}, api.ValidateTag(label) == nil
	}
	s := Selector{}
	numbers := [3]*uint32{&s.Version.Major, &s.Version.Minor, &s.Version.Patch}
	for more := true; more; s.Numbers++ {
		if s.Numbers == len(numbers) {
			return Selector{}, false
		}
		var digits string
		digits, label, more = strings.Cut(label, "-")
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil || len(digits) > 1 && digits[0] == '0' || digits[0] == '+' {
			return Selector{}, false
		}
		*numbers[s.Numbers] = uint32(n)
	}
	return s, true
}

// A Roster holds the stacks of one unit in one namespace as the catalog's stream describes
// them. It is immutable, and resolves names as the servers do.
type Roster struct {
	Namespace, Unit string
	Stacks          []*api.StackShare // in ascending order of version and age
	index           *Index
	stacks          map[string]*api.StackShare // by name
}

// NewRoster returns the roster of the stacks of a unit in a namespace.
func NewRoster(namespace, unit string, shares []*api.StackShare) *Roster {
	r := &Roster{Namespace: namespace, Unit: unit, stacks: make(map[string]*api.StackShare, len(shares))}
	rules := &api.Unit{Namespace: namespace, Name: unit, Targets: make(map[uint32]string)}
	in := Input{Units: []*api.Unit{rules}}
	shifts := make(map[uint32]*api.Shift)
	for _, s := range shares {
		_, version, _, _ := api.ParseStackName(s.Stack)
		status := s.Status
		if status == api.StackDeprecated {
			status = api.StackReady
			if !rules.IsDeprecated(version.Feature()) {
				rules.Deprecated = append(rules.Deprecated, &api.Deprecation{Version: version.Feature()})
			}
		}
		in.Stacks = append(in.Stacks, &api.Stack{
			Name: s.Stack, Namespace: namespace, Unit: unit, Version: version, Status: status, DeployedAt: s.DeployedAt,
		})
		r.stacks[s.Stack] = s
		if s.Target {
			rules.Targets[version.Major] = s.Stack
		}
		if s.ShiftEnd == "" {
			continue
		}
		shift := shifts[version.Major]
		if shift == nil {
			shift = &api.Shift{Namespace: namespace, Unit: unit, Major: version.Major, Status: api.ShiftRunning}
			shifts[version.Major] = shift
			in.Shifts = append(in.Shifts, shift)
		}
		if s.ShiftEnd == api.ShiftEndTo {
			shift.To, shift.Share = s.Stack, s.Share
		} else {
			shift.From = s.Stack
		}
	}
	r.index = NewIndex(in)
	for i := range r.index.nodes {
		r.Stacks = append(r.Stacks, r.stacks[r.index.nodes[i].stack.Name])
	}
	return r
}

// A Choice is a stack that a name leads to, with its part of the traffic.
type Choice struct {
	Stack *api.StackShare
	Share float64 // from 0 to 1
}

// Resolve returns the stacks that serve callers which want a feature version, the newer end
// of a shift first. It reports false if none of the unit's stacks with the major version is
// ready: a namespace around this one may have one then.
func (r *Roster) Resolve(want api.FeatureVersion) (choices []Choice, found bool) {
	if !r.HasMajor(want.Major) {
		return nil, false
	}
	u := r.index.units[unitKey{r.Namespace, r.Unit}]
	for _, p := range u.major(want.Major).resolve(want).parts() {
		if p.Stack != nil {
			choices = append(choices, Choice{r.stacks[p.Stack.Name], p.Share})
		}
	}
	return choices, true
}

// A Selection holds the stacks that a selector leads to.
type Selection struct {
	Choices []Choice
	// InOrder reports whether the choices are alternatives: the first one with instances receives
	// everything. Otherwise each receives its share.
	InOrder bool
}

// Select returns the stacks that a selector leads to. It reports false if a namespace around this
// one may have them.
func (r *Roster) Select(s Selector) (Selection, bool) {
	var list []*api.StackShare
	switch s.Numbers {
	case 1, 2:
		choices, found := r.Resolve(s.Version.Feature())
		return Selection{Choices: choices}, found
	case 3:
		list = r.Exact(s.Version)
	default:
		list = r.Tagged(s.Tag)
	}
	selection := Selection{InOrder: true}
	for _, stack := range list {
		selection.Choices = append(selection.Choices, Choice{stack, 1})
	}
	return selection, len(list) > 0
}

// Minors returns the minor versions of a unit's ready stacks with a major version, in
// ascending order. A caller that wants another minor version is served like one that wants
// the next higher of them.
func (r *Roster) Minors(number uint32) (minors []uint32) {
	if u := r.index.units[unitKey{r.Namespace, r.Unit}]; u != nil {
		if m := u.major(number); m != nil {
			for _, n := range m.routable {
				minors = append(minors, n.stack.Version.Minor)
			}
		}
	}
	return slices.Compact(minors)
}

// Majors returns the major versions with a ready stack, in ascending order.
func (r *Roster) Majors() (majors []uint32) {
	if u := r.index.units[unitKey{r.Namespace, r.Unit}]; u != nil {
		for i := range u.majors {
			majors = append(majors, u.majors[i].number)
		}
	}
	return majors
}

// HasMajor reports whether a stack of a major version is ready.
func (r *Roster) HasMajor(number uint32) bool {
	u := r.index.units[unitKey{r.Namespace, r.Unit}]
	return u != nil && u.major(number) != nil
}

// Exact returns the stacks of a version in order of preference: the ready ones first, then the
// newest.
func (r *Roster) Exact(v api.StackVersion) []*api.StackShare {
	return r.preferred(func(s *api.StackShare) bool {
		_, version, _, _ := api.ParseStackName(s.Stack)
		return version == v
	})
}

// Tagged returns the stacks of the version that a tag names, in order of preference.
func (r *Roster) Tagged(tag string) []*api.StackShare {
	return r.preferred(func(s *api.StackShare) bool { return slices.Contains(s.Tags, tag) })
}

// Named returns the stack with a name, or nil.
func (r *Roster) Named(name string) *api.StackShare { return r.stacks[name] }

func (r *Roster) preferred(qualifies func(*api.StackShare) bool) (list []*api.StackShare) {
	for _, s := range slices.Backward(r.Stacks) {
		if qualifies(s) {
			list = append(list, s)
		}
	}
	rank := func(s *api.StackShare) int {
		if s.IsReady() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b *api.StackShare) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// String lists the versions and statuses of the roster's stacks, such as "1.0.0 (ready), 1.1.0
// (warming)".
func (r *Roster) String() string {
	const shown = 10
	var words []string
	for _, s := range slices.Backward(r.Stacks) {
		if len(words) == shown {
			words = append(words, "and "+strconv.Itoa(len(r.Stacks)-shown)+" more")
			break
		}
		_, v, _, _ := api.ParseStackName(s.Stack)
		text := v.String() + " (" + s.Status
		if len(s.Tags) > 0 {
			text += ", tagged " + strings.Join(s.Tags, ", ")
		}
		words = append(words, text+")")
	}
	return strings.Join(words, ", ")
}
