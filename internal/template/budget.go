// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"fmt"
	"reflect"
	"time"
)

// Limits bound one rendering.
type Limits struct {
	Output int           // bytes of the result
	Steps  int           // iterations, calls, and units of 64 bytes
	Time   time.Duration // from the beginning
}

// DefaultLimits suffice for any useful template.
var DefaultLimits = Limits{Output: 1 << 20, Steps: 1 << 20, Time: 10 * time.Second}

const (
	maxText    = 1 << 20 // bytes of a template
	maxActions = 10_000  // of a template: the parser is recursive
	maxCalls   = 100     // depth of templates that call each other
	maxDepth   = 100     // of nested values
	unit       = 64      // bytes per step
	lookEvery  = 256     // steps between two looks at the clock
)

// errBudget means that a template exceeds a limit.
type errBudget string

func (e errBudget) Error() string { return string(e) }

// budget is what remains of the limits.
type budget struct {
	steps, depth int
	deadline     time.Time
	limits       Limits
	exceeded     error
}

func newBudget(l Limits) *budget {
	return &budget{steps: l.Steps, limits: l, deadline: time.Now().Add(l.Time)}
}

// charge takes n steps.
func (b *budget) charge(n int) error {
	if b.exceeded != nil {
		return b.exceeded
	}
	if n < 0 || n > b.steps {
		b.exceeded = errBudget(fmt.Sprintf("it takes more than %d steps: shorten its loops and its values", b.limits.Steps))
		return b.exceeded
	}
	before := b.steps / lookEvery
	b.steps -= n
	if b.steps/lookEvery != before && !time.Now().Before(b.deadline) {
		b.exceeded = errBudget(fmt.Sprintf("it takes longer than %s: shorten its loops and its values", b.limits.Time))
		return b.exceeded
	}
	return nil
}

// bytes takes the steps for n bytes.
func (b *budget) bytes(n int) error { return b.charge(n/unit + 1) }

// text returns a string that a function made, or an error if it is too long.
func (b *budget) text(s string) error {
	if len(s) > b.limits.Output {
		b.exceeded = errBudget(fmt.Sprintf("it makes a text of more than %d bytes", b.limits.Output))
		return b.exceeded
	}
	return nil
}

var errDeep = errors.New("a value is nested too deeply")

// weigh takes the steps for everything that a value holds. A value that holds another one often costs it as often,
// because a function that prints it does so as often.
func (b *budget) weigh(v reflect.Value, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	switch v.Kind() {
	case reflect.String:
		return b.bytes(v.Len())
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*scratch]() {
			return nil
		}
		return b.weigh(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return b.bytes(v.Len())
		}
		for i := range v.Len() {
			if err := b.weigh(v.Index(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := b.weigh(it.Key(), depth+1); err != nil {
				return err
			}
			if err := b.weigh(it.Value(), depth+1); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := b.weigh(v.Field(i), depth+1); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	return b.charge(1)
}

// writer collects the output up to the limit.
type writer struct {
	b   *budget
	out []byte
}

func (w *writer) Write(p []byte) (int, error) {
	if len(w.out)+len(p) > w.b.limits.Output {
		w.b.exceeded = errBudget(fmt.Sprintf("its output has more than %d bytes: split it into several templates", w.b.limits.Output))
		return 0, w.b.exceeded
	}
	if err := w.b.bytes(len(p)); err != nil {
		return 0, err
	}
	w.out = append(w.out, p...)
	return len(p), nil
}
