// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import "strings"

// A Kind is the kind of a dependency.
type Kind string

// Kinds of dependencies.
const (
	Variable  Kind = "variable"  // the items of one variable
	Variables Kind = "variables" // the paths below a prefix
	Service   Kind = "service"   // the instances of one service
	Services  Kind = "services"  // the names of all services
)

// A Dependency is a value outside of the template.
type Dependency struct {
	Kind      Kind
	Namespace string // "": the task's
	Name      string // path, prefix or name
}

// parseDependency splits "name@namespace".
func parseDependency(kind Kind, text string) Dependency {
	name, namespace, _ := strings.Cut(text, "@")
	return Dependency{kind, namespace, strings.Trim(name, "/")}
}

// A State tells whether a value is known.
type State int

// States of values.
const (
	Unknown   State = iota // not read yet
	Present                // read; a list may be empty
	Absent                 // does not exist
	Forbidden              // the task may not read it
)

// A Value is what a Source knows about a dependency.
type Value struct {
	State     State
	Path      string             // of a variable
	Items     map[string]string  // of a variable
	Metadata  VariableMetadata   // of a variable
	Variables []VariableMetadata // by path
	Instances []ServiceInstance
	Services  []ServiceName
}

// VariableMetadata describes a variable without its items.
type VariableMetadata struct {
	Namespace, Path          string
	CreateIndex, ModifyIndex uint64
	CreateTime, ModifyTime   int64 // Unix time in nanoseconds
}

// String returns the path, which is what templates usually want.
func (m VariableMetadata) String() string { return m.Path }

// A ServiceInstance is one instance of a service.
type ServiceInstance struct {
	ID, Name, Address                                   string
	Port                                                int
	Tags                                                []string
	JobID, AllocID, NodeID, Datacenter, Namespace, Zone string
	Meta                                                map[string]string
}

// A ServiceName is the name of a service with the tags of its instances.
type ServiceName struct {
	Name string
	Tags []string
}

// A Source holds the values for a rendering.
type Source interface {
	Value(Dependency) Value
	// Env returns a variable of the task's environment, or an attribute of its node.
	Env(name string) (string, bool)
	// File returns the content of a file of the task.
	File(path string) (string, error)
	// Choose returns n instances for a key; the same for the same key, as long as they exist.
	Choose(all []ServiceInstance, n int, key string) []ServiceInstance
}

// A Missing is a dependency without which a template cannot be rendered.
type Missing struct {
	Dependency
	State State
}
