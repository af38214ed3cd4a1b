// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// anyValue returns a parameter of any type.
func anyValue(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType}
}

// lengthFunc counts the elements of a collection or the characters of a text.
var lengthFunc = function.New(&function.Spec{
	Params: []function.Parameter{anyValue("value")},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v := args[0]
		switch t := v.Type(); {
		case t == cty.String:
			return stdlib.StrlenFunc.Call(args)
		case t.IsObjectType():
			return cty.NumberIntVal(int64(len(t.AttributeTypes()))), nil
		case t.IsCollectionType() || t.IsTupleType():
			return v.Length(), nil
		}
		return cty.NilVal, fmt.Errorf("takes a collection or a text, not %s", describe(v))
	},
})

var sumFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "numbers", Type: cty.List(cty.Number)}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		sum := cty.Zero
		for _, n := range args[0].AsValueSlice() {
			if n.IsNull() {
				return cty.NilVal, errors.New("one of the numbers is null")
			}
			sum = sum.Add(n)
		}
		return sum, nil
	},
})

var (
	allTrueFunc = truthFunc(func(total, holding int) bool { return holding == total })
	anyTrueFunc = truthFunc(func(_, holding int) bool { return holding > 0 })
)

func truthFunc(decide func(total, holding int) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "values", Type: cty.List(cty.Bool)}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			all, holding := args[0].AsValueSlice(), 0
			for _, v := range all {
				if !v.IsNull() && v.True() {
					holding++
				}
			}
			return cty.BoolVal(decide(len(all), holding)), nil
		},
	})
}

// indexFunc finds a value in a list.
var indexFunc = function.New(&function.Spec{
	Params: []function.Parameter{anyValue("list"), anyValue("value")},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if t := args[0].Type(); !t.IsListType() && !t.IsTupleType() {
			return cty.NilVal, fmt.Errorf("takes a list, not %s", describe(args[0]))
		}
		for i, v := range args[0].AsValueSlice() {
			if eq, err := stdlib.Equal(v, args[1]); err == nil && eq.IsKnown() && eq.True() {
				return cty.NumberIntVal(int64(i)), nil
			}
		}
		return cty.NilVal, fmt.Errorf("the list does not contain %s", describe(args[1]))
	},
})

// oneFunc returns the only element of a collection, or null if it is empty.
var oneFunc = function.New(&function.Spec{
	Params: []function.Parameter{anyValue("values")},
	Type: func(args []cty.Value) (cty.Type, error) {
		v, err := onlyElement(args[0])
		if err != nil {
			return cty.NilType, err
		}
		return v.Type(), nil
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return onlyElement(args[0]) },
})

func onlyElement(v cty.Value) (cty.Value, error) {
	if t := v.Type(); !v.IsKnown() || !t.IsListType() && !t.IsSetType() && !t.IsTupleType() {
		return cty.NilVal, fmt.Errorf("takes a list or a set, not %s", describe(v))
	}
	switch elements := v.AsValueSlice(); len(elements) {
	case 0:
		return cty.NullVal(cty.DynamicPseudoType), nil
	case 1:
		return elements[0], nil
	default:
		return cty.NilVal, fmt.Errorf("there are %d elements, not one", len(elements))
	}
}

// listFunc returns a list of its arguments, as [a, b] does.
var listFunc = function.New(&function.Spec{
	VarParam: &function.Parameter{Name: "values", Type: cty.DynamicPseudoType, AllowNull: true},
	Type: func(args []cty.Value) (cty.Type, error) {
		types := make([]cty.Type, len(args))
		for i, a := range args {
			types[i] = a.Type()
		}
		return cty.Tuple(types), nil
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return cty.TupleVal(args), nil },
})

// mapFunc returns a map of alternating keys and values, as { key = value } does.
var mapFunc = function.New(&function.Spec{
	VarParam: &function.Parameter{Name: "values", Type: cty.DynamicPseudoType},
	Type: func(args []cty.Value) (cty.Type, error) {
		v, err := pairs(args)
		if err != nil {
			return cty.NilType, err
		}
		return v.Type(), nil
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return pairs(args) },
})

func pairs(args []cty.Value) (cty.Value, error) {
	if len(args)%2 != 0 {
		return cty.NilVal, errors.New("takes keys and values in turn, so their number must be even")
	}
	out := map[string]cty.Value{}
	for i := 0; i < len(args); i += 2 {
		key, err := convert.Convert(args[i], cty.String)
		if err != nil || !key.IsKnown() || key.IsNull() {
			return cty.NilVal, fmt.Errorf("argument %d is a key and must be text", i+1)
		}
		out[key.AsString()] = args[i+1]
	}
	return cty.ObjectVal(out), nil
}
