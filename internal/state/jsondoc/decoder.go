// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jsondoc

import (
	"encoding/json"
	"reflect"
	"sync"
)

// A Decoder decodes JSON into Go values. Any goroutine may use it.
type Decoder struct {
	shared map[reflect.Type]bool
	strict bool
	pool   pool
	plans  sync.Map // reflect.Type -> plan
}

// New returns a decoder that returns the same object for equal texts of the types of the
// given values, which are structs.
func New(shared ...any) *Decoder {
	d := &Decoder{shared: map[reflect.Type]bool{}}
	for _, v := range shared {
		d.shared[reflect.TypeOf(v)] = true
	}
	return d
}

// NewStrict returns a decoder for Fill. Its values share nothing but strings, so they may be modified.
func NewStrict() *Decoder { return &Decoder{strict: true} }

// Fill decodes a text into the zero value that v points to, as encoding/json does with
// DisallowUnknownFields. It returns false if the text is for encoding/json to decode, or wrong; the
// value may be filled in part then.
func (d *Decoder) Fill(text []byte, v any) bool {
	r := reader{text: text, pool: &d.pool}
	target := reflect.ValueOf(v).Elem()
	return d.plan(target.Type())(&r, target) && r.at == len(text)
}

// Decode returns the value of a text. It may be part of other values, too: it must not be
// modified.
func Decode[T any](d *Decoder, text []byte) (*T, error) {
	v := new(T)
	r := reader{text: text, pool: &d.pool}
	if d.plan(reflect.TypeFor[T]())(&r, reflect.ValueOf(v).Elem()) && r.at == len(text) {
		return v, nil
	}
	v = new(T) // the attempt may have set some of it
	return v, json.Unmarshal(text, v)
}

// A plan decodes the next value of a text into v, which is zero. It returns false if the text
// is for encoding/json to decode.
type plan func(r *reader, v reflect.Value) bool

// plan returns the plan of a type.
func (d *Decoder) plan(t reflect.Type) plan {
	if known, ok := d.plans.Load(t); ok {
		return known.(plan)
	}
	known, _ := d.plans.LoadOrStore(t, d.build(t))
	return known.(plan)
}

// later returns the plan of a type that may be part of itself: it is looked up when it is
// used first.
func (d *Decoder) later(t reflect.Type) plan {
	get := sync.OnceValue(func() plan { return d.plan(t) })
	return func(r *reader, v reflect.Value) bool { return get()(r, v) }
}

func (d *Decoder) build(t reflect.Type) plan {
	if decodesItself(t) {
		return standard
	}
	switch t.Kind() {
	case reflect.Bool:
		return boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return integer
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return unsigned
	case reflect.Float64:
		return float
	case reflect.String:
		return text
	case reflect.Struct:
		return d.buildStruct(t)
	case reflect.Pointer:
		return d.buildPointer(t)
	case reflect.Slice:
		return d.buildSlice(t)
	case reflect.Map:
		return d.buildMap(t)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return anything
		}
	}
	return d.other()
}

// other returns the plan of a type that this package does not know. A strict decoder cannot leave a
// part of a text to encoding/json, which would ignore unknown names in it.
func (d *Decoder) other() plan {
	if d.strict {
		return func(*reader, reflect.Value) bool { return false }
	}
	return standard
}

// decodesItself reports whether encoding/json calls a method of the type.
func decodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ UnmarshalText([]byte) error }]())
}

// standard leaves one value to encoding/json.
func standard(r *reader, v reflect.Value) bool {
	raw, ok := r.value()
	return ok && json.Unmarshal(raw, v.Addr().Interface()) == nil
}

func (d *Decoder) buildPointer(t reflect.Type) plan {
	elem, of := d.later(t.Elem()), t.Elem()
	shared := d.shared[of]
	return func(r *reader, v reflect.Value) bool {
		if r.null() {
			return true
		}
		begin := r.at
		var entry *sharedObject
		if shared {
			raw, ok := r.value()
			if !ok {
				return false
			}
			if len(raw) <= maxShared {
				if entry = r.pool.object(of, raw); entry.object.IsValid() {
					v.Set(entry.object)
					return true
				}
			}
			r.at = begin
		}
		p := reflect.New(of)
		if !elem(r, p.Elem()) {
			return false
		}
		v.Set(p)
		if entry != nil {
			r.pool.keep(entry, r.text[begin:r.at], p)
		}
		return true
	}
}

func (d *Decoder) buildSlice(t reflect.Type) plan {
	if t.Elem().Kind() == reflect.Uint8 {
		return standard // base64
	}
	elem := d.later(t.Elem())
	return func(r *reader, v reflect.Value) bool {
		if r.null() {
			return true
		}
		if !r.enter('[') {
			return false
		}
		if r.take(']') {
			v.Set(reflect.MakeSlice(t, 0, 0))
			return r.leave()
		}
		for n := 0; ; n++ {
			v.Grow(1)
			v.SetLen(n + 1)
			if !elem(r, v.Index(n)) {
				return false
			}
			if !r.take(',') {
				return r.take(']') && r.leave()
			}
		}
	}
}
