// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// AnyNamespace is the namespace of a unit's rules that hold in all namespaces.
const AnyNamespace = "*"

// A Unit holds what operators decided about all stacks of a unit in a namespace.
type Unit struct {
	Namespace string // AnyNamespace: in all namespaces
	Name      string
	// Deprecated lists the feature versions that nothing new may depend on, in order.
	Deprecated []*Deprecation `json:",omitempty"`
	// Tags names versions. A tagged version is kept, and has an address of its own.
	Tags   map[string]StackVersion `json:",omitempty"`
	Policy *RetentionPolicy        `json:",omitempty"` // replaces that of each stack
	// Targets are the names of the stacks that receive all traffic of a major version
	// while no shift runs.
	Targets     map[uint32]string `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64
}

// A Deprecation refuses new dependencies on a feature version.
type Deprecation struct {
	Version FeatureVersion
	By      string `json:",omitempty"`
	Reason  string `json:",omitempty"`
	Since   time.Time
}

// IsDeprecated reports whether the unit's rules deprecate a feature version. A nil unit has no rules.
func (u *Unit) IsDeprecated(v FeatureVersion) bool {
	if u == nil {
		return false
	}
	for _, d := range u.Deprecated {
		if d.Version == v {
			return true
		}
	}
	return false
}
