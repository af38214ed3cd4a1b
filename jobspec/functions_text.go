// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// text returns a parameter of type text.
func text(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.String}
}

// textFunc returns a function from texts to a text.
func textFunc(f func(args []string) (string, error), params ...string) function.Function {
	spec := &function.Spec{Type: function.StaticReturnType(cty.String)}
	for _, p := range params {
		spec.Params = append(spec.Params, text(p))
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		texts := make([]string, len(args))
		for i, a := range args {
			texts[i] = a.AsString()
		}
		s, err := f(texts)
		if err != nil {
			return cty.NilVal, err
		}
		return cty.StringVal(s), nil
	}
	return function.New(spec)
}

// textTest returns a function from two texts to a boolean.
func textTest(test func(a, b string) bool, a, b string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{text(a), text(b)},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(test(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

var (
	startsWithFunc   = textTest(strings.HasPrefix, "text", "prefix")
	endsWithFunc     = textTest(strings.HasSuffix, "text", "suffix")
	containsTextFunc = textTest(strings.Contains, "text", "part")
)

// The output of the library's functions below grows with a number in their arguments. Job
// files are untrusted, so the numbers are bounded.

const maxWidth = 1000

var wideVerb = regexp.MustCompile(`%[^a-zA-Z%]*[0-9]{4,}`)

func boundedFormat(f function.Function) function.Function {
	return function.New(&function.Spec{
		Params:   f.Params(),
		VarParam: f.VarParam(),
		Type:     f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if args[0].Type() == cty.String && wideVerb.MatchString(args[0].AsString()) {
				return cty.NilVal, fmt.Errorf("a width may be at most %d", maxWidth)
			}
			return f.Call(args)
		},
	})
}

var boundedIndent = function.New(&function.Spec{
	Params: stdlib.IndentFunc.Params(),
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if n, _ := args[0].AsBigFloat().Int64(); n < 0 || n > maxWidth {
			return cty.NilVal, fmt.Errorf("the number of spaces must be from 0 to %d", maxWidth)
		}
		return stdlib.IndentFunc.Call(args)
	},
})

const maxProduct = 1 << 16

var boundedProduct = function.New(&function.Spec{
	Params:   stdlib.SetProductFunc.Params(),
	VarParam: stdlib.SetProductFunc.VarParam(),
	Type: func(args []cty.Value) (cty.Type, error) {
		size := 1
		for _, a := range args {
			if !a.IsKnown() || a.IsNull() || !a.CanIterateElements() {
				return cty.NilType, errors.New("takes lists and sets only")
			}
			if size *= a.LengthInt(); size > maxProduct {
				return cty.NilType, fmt.Errorf("the product would have more than %d elements", maxProduct)
			}
		}
		return stdlib.SetProductFunc.ReturnTypeForValues(args)
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return stdlib.SetProductFunc.Call(args) },
})
