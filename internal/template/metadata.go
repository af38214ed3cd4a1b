// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"reflect"
	"slices"
	"text/template/parse"
)

// Fields of the result of nomadVar besides its items. A map cannot have them, so the instrumentation turns them into
// calls: .Metadata.Path becomes (reeveField . "Metadata").Path.
const (
	fieldMetadata = "Metadata"
	fieldParent   = "Parent"
)

// fnField is the function that these fields become.
const fnField = "reeveField"

// A Parent is a variable with its items, as the field Parent of the items returns it.
type Parent struct {
	VariableMetadata
	Metadata VariableMetadata
	Items    Items
}

// replaceFields replaces the fields in a pipe and in the pipes inside.
func replaceFields(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for _, cmd := range p.Cmds {
		for i, arg := range cmd.Args {
			if i == 0 && len(cmd.Args) > 1 && arg.Type() != parse.NodePipe {
				continue // a method with arguments
			}
			cmd.Args[i] = replaceField(arg)
		}
	}
}

func replaceField(n parse.Node) parse.Node {
	switch n := n.(type) {
	case *parse.PipeNode:
		replaceFields(n)
	case *parse.FieldNode:
		if at := fieldIn(n.Ident, 0); at >= 0 {
			var base parse.Node = &parse.DotNode{NodeType: parse.NodeDot, Pos: n.Pos}
			if at > 0 {
				base = &parse.FieldNode{NodeType: parse.NodeField, Pos: n.Pos, Ident: n.Ident[:at]}
			}
			return fieldCall(base, n.Ident[at:])
		}
	case *parse.VariableNode:
		if at := fieldIn(n.Ident, 1); at >= 0 {
			return fieldCall(&parse.VariableNode{NodeType: parse.NodeVariable, Pos: n.Pos, Ident: n.Ident[:at]}, n.Ident[at:])
		}
	case *parse.ChainNode:
		n.Node = replaceField(n.Node)
		if at := fieldIn(n.Field, 0); at >= 0 {
			base := n.Node
			if at > 0 {
				base = &parse.ChainNode{NodeType: parse.NodeChain, Pos: n.Pos, Node: n.Node, Field: n.Field[:at]}
			}
			return fieldCall(base, n.Field[at:])
		}
	}
	return n
}

// fieldIn returns the position of the first of the fields at or after from; -1: there is none.
func fieldIn(names []string, from int) int {
	at := slices.IndexFunc(names[min(from, len(names)):], func(name string) bool { return name == fieldMetadata || name == fieldParent })
	if at < 0 {
		return -1
	}
	return at + from
}

// fieldCall makes the node (reeveField base "names[0]").names[1:].
func fieldCall(base parse.Node, names []string) parse.Node {
	pos := base.Position()
	args := []parse.Node{
		parse.NewIdentifier(fnField).SetPos(pos), base,
		&parse.StringNode{NodeType: parse.NodeString, Pos: pos, Quoted: fmt.Sprintf("%q", names[0]), Text: names[0]},
	}
	call := &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{{NodeType: parse.NodeCommand, Pos: pos, Args: args}}}
	rest := names[1:]
	if len(rest) == 0 {
		return call
	}
	return replaceField(&parse.ChainNode{NodeType: parse.NodeChain, Pos: pos, Node: call, Field: rest})
}

// describe remembers the variable that items come from.
func (x *execution) describe(m Items, v Value) {
	if x.described == nil {
		x.described = map[uintptr]*Parent{}
	}
	x.described[reflect.ValueOf(m).Pointer()] = &Parent{v.Metadata, v.Metadata, m} // it keeps m, so no other map has the address
}

// field returns a field of a value, as the library does. Items have fields with metadata, unless they have an item of the
// name.
func (x *execution) field(of any, name string) (any, error) {
	v := reflect.ValueOf(of)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Invalid:
		if !x.strict {
			return nil, nil
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			break
		}
		if found := v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key())); found.IsValid() {
			return found.Interface(), nil
		}
		if of := x.described[v.Pointer()]; of != nil && name == fieldMetadata {
			return of.Metadata, nil
		} else if of != nil {
			return of, nil
		}
		if x.strict {
			return nil, &failure{reason: fmt.Sprintf("map has no entry for key %q", name)}
		}
		if v.Type().Elem().Kind() == reflect.Interface {
			return nil, nil
		}
		return reflect.Zero(v.Type().Elem()).Interface(), nil
	case reflect.Struct:
		if found := v.FieldByName(name); found.IsValid() {
			return found.Interface(), nil
		}
	}
	return nil, &failure{reason: "the value has no field " + name}
}
