// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"fmt"
	"reflect"
	"text/template"
)

// An execution is one rendering under way.
type execution struct {
	*budget
	source  Source
	asked   map[Dependency]bool
	needs   []Dependency
	missing []Missing
	scratch *scratch
	strict  bool // a missing key of a map is an error
	// described holds the variables of items, by the address of the map.
	described map[uintptr]*Parent
}

// functions returns all functions, bound to the execution.
func (x *execution) functions() template.FuncMap {
	m := template.FuncMap{
		fnStep:  func() (string, error) { return "", x.charge(1) },
		fnEnter: x.enter,
		fnLeave: func() string { x.depth--; return "" },
		fnShow:  x.show,
		fnField: x.field,
	}
	for name, fn := range pure {
		m[name] = x.adapt(name, fn)
	}
	for name, make := range bound {
		m[name] = x.adapt(name, make(x))
	}
	x.scratch = &scratch{x: x, values: map[string]any{}}
	m["scratch"] = func() *scratch { return x.scratch }
	return m
}

// enter begins the call of a template.
func (x *execution) enter() (string, error) {
	if x.depth++; x.depth > maxCalls {
		x.exceeded = errBudget(fmt.Sprintf("its templates call each other more than %d levels deep", maxCalls))
		return "", x.exceeded
	}
	return "", x.charge(1)
}

// show passes a value that is printed.
func (x *execution) show(v any) (any, error) {
	if v == nil {
		return "<no value>", nil
	}
	if s, ok := v.(string); ok { // the writer charges it
		return s, nil
	}
	return v, x.weigh(reflect.ValueOf(v), 0)
}

// value returns a value for the template, and notes whether it is missing.
func (x *execution) value(d Dependency, wait bool) Value {
	v := x.source.Value(d)
	if !x.asked[d] {
		x.asked[d] = true
		x.needs = append(x.needs, d)
	}
	if v.State == Unknown || wait && v.State != Present {
		m := Missing{d, v.State}
		for _, known := range x.missing {
			if known == m {
				return v
			}
		}
		x.missing = append(x.missing, m)
	}
	return v
}

// maxNeeds bounds the dependencies of a template.
const maxNeeds = 256

var (
	anyType    = reflect.TypeFor[any]()
	errorType  = reflect.TypeFor[error]()
	stringType = reflect.TypeFor[string]()
)

// adapt makes a function of a template from a Go function. It charges the arguments and the result, converts
// arguments, and names the function in errors.
func (x *execution) adapt(name string, fn any) func(args ...any) (any, error) {
	f := reflect.ValueOf(fn)
	t := f.Type()
	fixed := t.NumIn()
	if t.IsVariadic() {
		fixed--
	}
	return func(args ...any) (any, error) {
		if len(x.needs) > maxNeeds {
			x.exceeded = errBudget(fmt.Sprintf("it reads more than %d variables and services", maxNeeds))
			return nil, x.exceeded
		}
		if len(args) < fixed || len(args) > fixed && !t.IsVariadic() {
			return nil, &failure{name, fmt.Sprintf("it takes %d arguments, not %d", fixed, len(args))}
		}
		in := make([]reflect.Value, len(args))
		for i, arg := range args {
			to := t.In(min(i, fixed))
			if i >= fixed {
				to = to.Elem() // of the variadic argument
			}
			if err := x.weigh(reflect.ValueOf(arg), 0); err != nil {
				return nil, x.fail(name, err)
			}
			v, ok := convert(arg, to)
			if !ok {
				return nil, &failure{name, fmt.Sprintf("argument %d is not %s", i+1, describe(to))}
			}
			in[i] = v
		}
		out := f.Call(in)
		if last := out[len(out)-1]; last.Type() == errorType && !last.IsNil() {
			return nil, x.fail(name, last.Interface().(error))
		}
		result := out[0].Interface()
		if s, ok := result.(string); ok {
			if err := x.text(s); err != nil {
				return nil, err
			}
		}
		if err := x.weigh(out[0], 0); err != nil {
			return nil, x.fail(name, err)
		}
		return result, nil
	}
}

// fail names the function in an error.
func (x *execution) fail(name string, err error) error {
	var over errBudget
	if errors.As(err, &over) {
		return err
	}
	return &failure{name, err.Error()}
}

func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Map:
		return "a map"
	case reflect.Slice:
		return "a list"
	}
	return "of the right type"
}

// convert converts an argument to the type of a parameter.
func convert(arg any, to reflect.Type) (reflect.Value, bool) {
	v := reflect.ValueOf(arg)
	switch {
	case to == anyType:
		if arg == nil {
			return reflect.Zero(to), true
		}
		return v, true
	case arg == nil:
		return reflect.Zero(to), true
	case v.Type() == to:
		return v, true
	case to == stringType:
		s, ok := asText(arg)
		return reflect.ValueOf(s), ok
	case to.Kind() == reflect.Int || to.Kind() == reflect.Int64:
		n, ok := asInt(arg)
		return reflect.ValueOf(n).Convert(to), ok
	case v.Kind() == reflect.Map && to == reflect.TypeFor[map[string]any](), v.Kind() == reflect.Slice && to == reflect.TypeFor[[]any]():
		return toGeneric(v)
	case v.Type().AssignableTo(to):
		return v, true
	}
	return v, false
}

// toGeneric converts a map with keys that are texts, or a list.
func toGeneric(v reflect.Value) (reflect.Value, bool) {
	if v.Kind() == reflect.Slice {
		list := make([]any, v.Len())
		for i := range list {
			list[i] = v.Index(i).Interface()
		}
		return reflect.ValueOf(list), true
	}
	m := make(map[string]any, v.Len())
	for it := v.MapRange(); it.Next(); {
		key, ok := asText(it.Key().Interface())
		if !ok {
			return v, false
		}
		m[key] = it.Value().Interface()
	}
	return reflect.ValueOf(m), true
}

// asText converts a scalar to text.
func asText(arg any) (string, bool) {
	switch s := arg.(type) {
	case string:
		return s, true
	case []byte:
		return string(s), true
	case fmt.Stringer:
		return s.String(), true
	}
	v := reflect.ValueOf(arg)
	switch {
	case v.Kind() == reflect.String:
		return v.String(), true
	case v.CanInt(), v.CanUint(), v.CanFloat(), v.Kind() == reflect.Bool:
		return fmt.Sprint(arg), true
	}
	return "", false
}

// asInt converts a whole number.
func asInt(arg any) (int64, bool) {
	v := reflect.ValueOf(arg)
	switch {
	case v.CanInt():
		return v.Int(), true
	case v.CanUint() && v.Uint() <= 1<<62:
		return int64(v.Uint()), true
	case v.CanFloat() && v.Float() == float64(int64(v.Float())):
		return int64(v.Float()), true
	}
	return 0, false
}
