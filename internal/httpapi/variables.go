// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"iter"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

var variablesInOrder = order[*state.Variable]{
	key:    func(v *state.Variable) key { return key{namespace: v.Namespace, id: v.Path} },
	stored: true,
	seen:   func(c *call, v *state.Variable) any { return c.shownMetadata(&v.VariableMetadata) },
}

// mayVariable reports whether the caller has a capability for a variable.
func (c *call) mayVariable(capability acl.Capability, namespace, path string) bool {
	r := c.rights()
	return r == nil || r.ACL.Allows(acl.Question{Capability: capability, Name: namespace, Path: path})
}

// shownVariable returns what the caller may see of a variable: its items to readers, its lock's id to
// those who may write it.
func (c *call) shownVariable(v *api.Variable) *api.Variable {
	shown := *v
	if !c.mayVariable(acl.ReadVariables, v.Namespace, v.Path) {
		shown.Items = nil
	}
	shown.VariableMetadata = *c.shownMetadata(&v.VariableMetadata)
	return &shown
}

func (c *call) shownMetadata(m *api.VariableMetadata) *api.VariableMetadata {
	shown := m.Copy()
	if shown.Lock != nil && !c.mayVariable(acl.WriteVariables, m.Namespace, m.Path) {
		shown.Lock.ID = ""
	}
	return shown
}

func listVariables(c *call, v *state.Snapshot) iter.Seq[*state.Variable] {
	all := v.AllVariables()
	if c.namespace != allNamespaces {
		all = v.Variables(c.namespace, c.prefix)
	}
	return where(all, func(variable *state.Variable) bool {
		return strings.HasPrefix(variable.Path, c.prefix) && c.mayVariable(acl.ListVariables, variable.Namespace, variable.Path)
	})
}

func showVariable(c *call, _ *state.Snapshot, v *state.Variable) *api.VariableMetadata {
	return c.shownMetadata(&v.VariableMetadata)
}

func getVariable(c *call, v *state.Snapshot) (*api.Variable, uint64, error) {
	if c.namespace == allNamespaces {
		return nil, 0, api.Errorf(api.CodeInvalid, "namespace: a variable is in one namespace, not %q", allNamespaces)
	}
	stored, err := orNotFound(v.Variable(c.namespace, c.id()), "variable %q not found in namespace %q; list variables with: reeve var list", c.id(), c.namespace)
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	shown, err := c.Server.Variable(v, stored)
	if err != nil {
		return nil, 0, err
	}
	return c.shownVariable(shown), stored.ModifyIndex, nil
}

// putVariable stores a variable, or changes its lock.
func putVariable(c *call, v *api.Variable) (*api.Variable, uint64, error) {
	switch {
	case v.Path != "" && v.Path != c.id():
		return nil, 0, api.Errorf(api.CodeInvalid, "Path: the variable in the body is %.140q, the one in the path %.140q", v.Path, c.id())
	case v.Namespace != "" && v.Namespace != c.namespace:
		return nil, 0, api.Errorf(api.CodeInvalid, "Namespace: the variable in the body is in namespace %.140q, the request in %q: add the query parameter namespace", v.Namespace, c.namespace)
	}
	v.Path, v.Namespace = c.id(), c.namespace
	operation, err := c.lockOperation()
	if err != nil {
		return nil, 0, err
	}
	enforce, err := c.cas()
	if err != nil {
		return nil, 0, err
	}
	ctx, given := c.r.Context(), v.Items
	var stored *api.Variable
	var index uint64
	switch operation {
	case "":
		stored, index, err = c.Server.PutVariable(ctx, v, enforce)
	case "lock-acquire":
		stored, index, err = c.Server.AcquireVariableLock(ctx, v, enforce)
	case "lock-release":
		stored, index, err = c.Server.ReleaseVariableLock(ctx, v)
	case "lock-renew":
		var renewed *api.VariableMetadata
		if renewed, err = c.Server.RenewVariableLock(ctx, v); err == nil {
			stored = &api.Variable{VariableMetadata: *renewed}
		}
	}
	if err != nil {
		return nil, 0, c.withVariable(err)
	}
	shown := c.shownVariable(stored)
	if len(given) > 0 {
		shown.Items = given
	}
	return shown, index, nil
}

// lockOperation returns the one lock operation that the query names; "" for none.
func (c *call) lockOperation() (string, error) {
	operation := ""
	for _, name := range []string{"lock-acquire", "lock-renew", "lock-release"} {
		set, err := c.flag(name)
		switch {
		case err != nil:
			return "", err
		case set && operation != "":
			return "", api.Errorf(api.CodeInvalid, "%s and %s: a request has one of them", operation, name)
		case set:
			operation = name
		}
	}
	return operation, nil
}

func deleteVariable(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	enforce, err := c.cas()
	if err != nil {
		return nil, 0, err
	}
	index, err := c.Server.DeleteVariable(c.r.Context(), c.namespace, c.id(), enforce)
	if err != nil {
		return nil, 0, c.withVariable(err)
	}
	return &api.IndexResponse{Index: index}, index, nil
}

// A variableConflict answers a request whose variable is not as it expects it, with the variable.
type variableConflict struct {
	answer *api.VariableConflict
	err    error
}

func (e *variableConflict) Error() string { return e.err.Error() }
func (e *variableConflict) Unwrap() error { return e.err }

// withVariable adds the stored variable to a conflict: with its items for readers.
func (c *call) withVariable(err error) error {
	var conflict *server.VariableConflictError
	if !errors.As(err, &conflict) {
		return err
	}
	answer := &api.VariableConflict{Code: conflict.Err.Code, Message: conflict.Err.Message, Variable: &api.Variable{
		VariableMetadata: api.VariableMetadata{Namespace: c.namespace, Path: c.id()},
	}}
	if conflict.Stored != nil {
		answer.Variable.VariableMetadata = *c.shownMetadata(&conflict.Stored.VariableMetadata)
		if c.mayVariable(acl.ReadVariables, c.namespace, c.id()) {
			if shown, err := c.Server.Variable(c.Server.Store().Snapshot(), conflict.Stored); err == nil {
				answer.Variable.Items = shown.Items
			}
		}
	}
	return &variableConflict{answer, err}
}
