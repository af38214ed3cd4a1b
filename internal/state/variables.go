// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// A Variable is a variable as servers store it: encrypted.
type Variable struct {
	api.VariableMetadata
	KeyID string // of the root key that encrypts Data
	Data  []byte // the items, encrypted
	// LockedUntil is the Unix time in nanoseconds before which servers refuse the lock, because its last
	// holder did not release it.
	LockedUntil int64 `json:",omitempty"`
}

const variablesName = "variables"

var variables = declare(noun[Variable]{
	name: variablesName, singular: "variable", verb: "Variable", frame: 34,
	key:    func(v *Variable) string { return variableKey(v.Namespace, v.Path) },
	stamp:  func(v *Variable) (create, modify *uint64) { return &v.CreateIndex, &v.ModifyIndex },
	groups: func(v *Variable) []string { return []string{v.KeyID} },
	since:  sinceSecrets[Variable],
	same:   func(old, new *Variable) bool { return old.ModifyTime == new.ModifyTime },
	admit:  admitVariable,
})

// TableVariables holds *Variable.
var TableVariables = variables.table

// variableKey orders variables by namespace and path. Neither contains the separator.
func variableKey(namespace, path string) string { return namespace + "\x00" + path }

// Variable returns a variable; nil if it does not exist.
func (c *content) Variable(namespace, path string) *Variable {
	return variables.find(c, variableKey(namespace, path))
}

// Variables yields the variables of a namespace whose paths begin with prefix, by path.
func (c *content) Variables(namespace, prefix string) iter.Seq[*Variable] {
	return variables.all(c, variableKey(namespace, prefix))
}

// AllVariables yields all variables, by namespace and path.
func (c *content) AllVariables() iter.Seq[*Variable] { return variables.all(c, "") }

// VariablesOfKey yields the variables that a root key encrypts.
func (c *content) VariablesOfKey(id string) iter.Seq[*Variable] { return variables.ofGroup(c, id) }

// PutVariable returns the command that stores a variable. enforce is the modify index that the stored
// one must have; 0: it must not exist. A variable with the stored one's ModifyTime has the same content,
// in another encryption: it keeps its modify index.
func PutVariable(v *Variable, enforce uint64) Command {
	return &putObject[Variable]{variables, v, &enforce}
}

// DeleteVariable returns the command that deletes a variable with a modify index.
func DeleteVariable(namespace, path string, enforce uint64) Command {
	return &deleteObject[Variable]{variables, variableKey(namespace, path), &enforce}
}

func admitVariable(_ *noun[Variable], c *content, old, new *Variable) error {
	switch {
	case new == nil:
		return nil
	case old == nil && c.Namespace(new.Namespace) == nil:
		return api.Errorf(api.CodeInvalid, "namespace %q does not exist; create it with: reeve namespace apply %s", new.Namespace, new.Namespace)
	case c.RootKey(new.KeyID) == nil:
		return api.Errorf(api.CodeConflict, "root key %s was deleted meanwhile: repeat the change", new.KeyID)
	}
	return nil
}

// storedVariables returns the noun to the admit functions of what variables refer to. By the noun's
// variable, they would be an initialization cycle.
func storedVariables() *noun[Variable] { return nounNamed(variablesName).(*noun[Variable]) }
