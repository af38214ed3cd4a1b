// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"
	"maps"

	"github.com/reeve-run/reeve/api"
)

// units holds what operators decided about the stacks of each unit.
var units = declare(noun[api.Unit]{
	name: "units", singular: "unit", verb: "Unit", frame: 16,
	key:       func(u *api.Unit) string { return jobName(u.Namespace, u.Name) },
	stamp:     func(u *api.Unit) (create, modify *uint64) { return &u.CreateIndex, &u.ModifyIndex },
	topic:     api.TopicUnit,
	eventKey:  func(u *api.Unit) EventKey { return EventKey{Key: u.Name, Namespace: u.Namespace} },
	eventType: putOrDelete[api.Unit](api.EventTypeUnitUpserted, api.EventTypeUnitDeleted),
})

// TableUnits holds *api.Unit.
var TableUnits = units.table

// Unit returns the rules of a unit in a namespace, nil if it has none. The namespace
// api.AnyNamespace has the rules for all namespaces.
func (c *content) Unit(namespace, name string) *api.Unit {
	return units.find(c, jobName(namespace, name))
}

// Units yields the rules of all units, ordered by namespace, then name.
func (c *content) Units() iter.Seq[*api.Unit] { return units.all(c, "") }

// PutUnit returns the command that stores the rules of a unit, unless they were changed since
// they were read.
func PutUnit(u *api.Unit) Command {
	modified := u.ModifyIndex
	return &putObject[api.Unit]{units, u, &modified}
}

// unitObject returns the rules of a unit as an object that commands write.
func unitObject(namespace, name string) Object {
	return Object{Table: TableUnits, ID: jobName(namespace, name)}
}

// setTarget makes a stack the target of its major version.
func (t *txn) setTarget(namespace, unit string, major uint32, stack string) {
	u := &api.Unit{Namespace: namespace, Name: unit}
	if old := t.Unit(namespace, unit); old != nil {
		if old.Targets[major] == stack {
			return
		}
		*u = *old
	}
	u.Targets = maps.Clone(u.Targets)
	if u.Targets == nil {
		u.Targets = make(map[uint32]string)
	}
	u.Targets[major] = stack
	units.put(t, u)
}

// setFirstTarget makes a ready stack the target of its major version if no other ready
// stack is.
func (t *txn) setFirstTarget(s *api.Stack) {
	if u := t.Unit(s.Namespace, s.Unit); u != nil {
		if target := t.Stack(s.Namespace, u.Targets[s.Version.Major]); target != nil && target.IsRoutable() {
			return
		}
	}
	t.setTarget(s.Namespace, s.Unit, s.Version.Major, s.Name)
}
