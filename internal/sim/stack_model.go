// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A stackModel follows the stacks of a run by their events, to check the server's decisions. It finds callers in a
// way of its own: from the dependencies that the scenario deployed, and by a plain search for the stacks that serve them.
type stackModel struct {
	depends map[string][]dependency       // that the scenario deployed, by unit and version
	stacks  map[string]*api.Stack         // that are not forgotten, by name
	shifts  map[string]*api.Shift         // that run, by id
	targets map[unitKey]map[uint32]string // names of stacks, by unit and major version
	marked  int                           // stacks that sweeps made garbage
	errors  []string                      // marked stacks that had a caller or were an end of a shift
}

// A unitKey names a unit of a namespace.
type unitKey struct{ namespace, name string }

// A dependency is a unit and the lowest version of it that a stack calls.
type dependency struct {
	unit string
	want api.FeatureVersion
}

func newStackModel() *stackModel {
	return &stackModel{
		depends: make(map[string][]dependency), stacks: make(map[string]*api.Stack), shifts: make(map[string]*api.Shift),
		targets: make(map[unitKey]map[uint32]string),
	}
}

// deploys notes the dependencies of a version that the scenario is about to deploy.
func (m *stackModel) deploys(unit string, v api.StackVersion, depends []dependency) {
	m.depends[unit+"@"+v.String()] = depends
}

// A stackChange is a new state of a stack, a shift or the rules of a unit. Exactly one field is set.
type stackChange struct {
	stack     *api.Stack
	shift     *api.Shift
	unit      *api.Unit
	forgotten string // name of a stack that is not stored any more
}

// apply takes in the changes of one log entry. A stack that the entry makes garbage by a sweep must not have had a
// caller before it.
func (m *stackModel) apply(index uint64, changes []stackChange) {
	for _, c := range changes {
		if c.stack == nil || c.stack.Status != api.StackGarbage || c.stack.StatusBy != "" {
			continue
		}
		if old := m.stacks[c.stack.Name]; old == nil || old.Status != api.StackReady {
			continue
		}
		m.marked++
		if users := m.usersOf(c.stack.Name); len(users) > 0 {
			m.errors = append(m.errors, fmt.Sprintf("at index %d, %s became garbage (%s), and %s used it", index, c.stack.Name, c.stack.StatusText(), strings.Join(users, ", ")))
		}
	}
	for _, c := range changes {
		switch {
		case c.stack != nil:
			m.stacks[c.stack.Name] = c.stack
		case c.unit != nil:
			m.targets[unitKey{c.unit.Namespace, c.unit.Name}] = c.unit.Targets
		case c.shift != nil && c.shift.IsActive():
			m.shifts[c.shift.ID] = c.shift
		case c.shift != nil:
			delete(m.shifts, c.shift.ID)
		default:
			delete(m.stacks, c.forgotten)
		}
	}
}

// usersOf lists the stacks whose requests a stack serves, and the shifts that it is an end of.
func (m *stackModel) usersOf(name string) (users []string) {
	for _, caller := range m.stacks {
		if !caller.IsLive() || caller.Name == name {
			continue
		}
		for _, d := range m.depends[caller.Unit+"@"+caller.Version.String()] {
			if slices.Contains(m.serving(caller.Namespace, d), name) {
				users = append(users, caller.Name)
			}
		}
	}
	for _, s := range m.shifts {
		if s.From == name || s.To == name {
			users = append(users, "shift "+s.ID)
		}
	}
	slices.Sort(users)
	return users
}

// serving returns the names of the stacks that serve a dependency of a caller in a namespace: those of the namespace,
// or of the next one around it that has a ready stack of the major version.
func (m *stackModel) serving(namespace string, d dependency) []string {
	key := unitKey{m.nearest(namespace, d.unit, d.want.Major), d.unit}
	serves := func(name string) bool {
		s := m.stacks[name]
		return s != nil && s.Namespace == key.namespace && s.Unit == d.unit && s.Status == api.StackReady && s.Version.Satisfies(d.want)
	}
	for _, s := range m.shifts {
		if s.Namespace == key.namespace && s.Unit == d.unit && s.Major == d.want.Major && serves(s.From) && serves(s.To) {
			return []string{s.From, s.To}
		}
	}
	if target := m.targets[key][d.want.Major]; serves(target) {
		return []string{target}
	}
	if s := m.newest(key, func(s *api.Stack) bool { return serves(s.Name) }); s != nil {
		return []string{s.Name}
	}
	return nil
}

// nearest returns the namespace with a ready stack of a unit's major version that is the first one from a caller's
// outwards, or "".
func (m *stackModel) nearest(namespace, unit string, major uint32) string {
	for ; namespace != ""; namespace = api.ParentNamespace(namespace) {
		if m.newest(unitKey{namespace, unit}, func(s *api.Stack) bool { return s.Status == api.StackReady && s.Version.Major == major }) != nil {
			return namespace
		}
	}
	return ""
}

// newest returns the stack of a unit with the highest version that qualifies, or nil.
func (m *stackModel) newest(of unitKey, qualifies func(*api.Stack) bool) (newest *api.Stack) {
	for _, s := range m.stacks {
		if s.Namespace == of.namespace && s.Unit == of.name && qualifies(s) && (newest == nil || s.Version.Compare(newest.Version) > 0) {
			newest = s
		}
	}
	return newest
}

// states counts the stacks by status.
func (m *stackModel) states() map[string]int {
	states := make(map[string]int)
	for _, s := range m.stacks {
		states[s.Status]++
	}
	return states
}
