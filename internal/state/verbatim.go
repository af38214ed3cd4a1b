// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/reasons"
)

// Verbatim reports whether encoding a command in the log and decoding it returns an equal
// command.
//
// Every server applies the commands that it decodes from the log, so that all servers
// reach the same state. Encoding loses details: the time zone of a time, the difference
// between an empty and a missing list, the type of an int. A command without such details
// equals its decoded form, so the server that wrote the entry need not decode it.
//
// Commands with a job or with the explanation of a failed placement are decoded all the
// same: the decoder finds equal policies and explanations, and stores them once. See
// package jsondoc.
//
// The caller must not modify the command, or anything that it refers to, afterwards: it
// becomes part of the store.
func Verbatim(c Command) bool {
	switch c := c.(type) {
	case *PutEvaluations:
		return keepsEvaluations(c.Evaluations)
	case *CommitPlacement:
		return c.Placement != nil && keepsPlacement(c.Placement)
	case *RegisterNode:
		return c.Node != nil && documents.keeps(reflect.ValueOf(c.Node)) && keepsEvaluations(c.Evaluations)
	case *UpdateAllocations:
		return c.Decoded && keepsEvaluations(c.Evaluations)
	}
	return false
}

func keepsPlacement(p *Placement) bool {
	if !keepsEvaluations(p.Evaluations) {
		return false
	}
	if d := p.Deployment; d != nil && !(records.keeps(reflect.ValueOf(d)) && keepsReason(d.StatusReason, d.StatusDescription, reasons.Deployment)) {
		return false
	}
	if r := p.Restart; r != nil && !(documents.keeps(reflect.ValueOf(r)) && keepsReason(r.StatusReason, r.StatusDescription, reasons.Restart)) {
		return false
	}
	// Allocations of one placement share most of the objects that they refer to.
	var metrics *api.PlacementMetrics
	var resources *api.AllocatedResources
	var tasks uintptr
	for _, a := range p.Place {
		if a == nil || a.Resources != nil || a.SharedResources != nil || a.TaskResources != nil || hasLifecycles(a) || a.TaskStates != nil || a.NetworkStatus != nil || a.Images != nil ||
			a.PreemptedAllocations != nil || a.DesiredTransition != (api.DesiredTransition{}) {
			return false
		}
		if s := a.DeploymentStatus; s != nil && !records.keeps(reflect.ValueOf(s)) {
			return false
		}
		if l := a.Launches; l != nil && !records.keeps(reflect.ValueOf(l)) {
			return false
		}
		if s := a.LaunchStatus; s != nil && !records.keeps(reflect.ValueOf(s)) {
			return false
		}
		if s := a.Serving; s != nil && !records.keeps(reflect.ValueOf(s)) {
			return false
		}
		if a.Orphan || !keepsReason(a.DesiredReason, a.DesiredDescription, reasons.Allocation) {
			return false
		}
		if t := a.RescheduleTracker; t != nil && !records.keeps(reflect.ValueOf(t)) {
			return false
		}
		if a.Metrics != nil && a.Metrics != metrics {
			if !records.keeps(reflect.ValueOf(a.Metrics)) {
				return false
			}
			metrics = a.Metrics
		}
		if r := a.AllocatedResources; r != nil && r != resources {
			t := reflect.ValueOf(r.Tasks)
			if t.Pointer() == 0 || t.Pointer() != tasks {
				if !records.keeps(t) {
					return false
				}
				tasks = t.Pointer()
			}
			if !records.keeps(reflect.ValueOf(&r.Shared).Elem()) {
				return false
			}
			resources = r
		}
	}
	for i := range p.Stop {
		if !keepsReason(p.Stop[i].Reason, p.Stop[i].Description, reasons.Allocation) {
			return false
		}
	}
	for i := range p.DeploymentUpdates {
		if u := &p.DeploymentUpdates[i]; !keepsReason(u.Reason, u.Description, reasons.Deployment) {
			return false
		}
	}
	return true
}

// keepsReason reports whether a reason and its description survive an encoding.
func keepsReason(reason api.Reason, description string, decode func(uint32, string) (api.Reason, string)) bool {
	if reason == 0 && description == "" {
		return true
	}
	r, d := decode(uint32(reason), reasons.Sentence(reason, description))
	return r == reason && d == description
}

func keepsEvaluations(evaluations []*api.Evaluation) bool {
	for _, e := range evaluations {
		if e == nil || !keepsEvaluation(e) {
			return false
		}
	}
	return true
}

func keepsEvaluation(e *api.Evaluation) bool {
	if e == nil {
		return true
	}
	if !keepsReason(e.StatusReason, e.StatusDescription, reasons.Evaluation) {
		return false
	}
	if e.FailedGroups != nil || e.ClassEligibility != nil || e.RelatedEvals != nil || e.Annotations != nil {
		return false // decoded, it shares its explanation with others
	}
	return keepsTime(e.WaitUntil)
}

// A keeper determines which values of a type survive an encoding. Documents are JSON,
// which distinguishes empty from missing lists. Records are protobuf, which does not.
type keeper struct {
	empty bool // reports whether empty lists and maps survive
	mu    sync.RWMutex
	tests map[reflect.Type]test
}

var (
	documents = &keeper{empty: true, tests: map[reflect.Type]test{}}
	records   = &keeper{tests: map[reflect.Type]test{}}
)

// A test reports whether a value of its type survives; nil: every value does.
type test func(v reflect.Value) bool

func (k *keeper) keeps(v reflect.Value) bool {
	k.mu.RLock()
	keeps, known := k.tests[v.Type()]
	k.mu.RUnlock()
	if !known {
		k.mu.Lock()
		keeps = k.of(v.Type())
		k.mu.Unlock()
	}
	return keeps == nil || keeps(v)
}

// of returns the test of a type. It creates the test if necessary. The caller holds the
// lock.
func (k *keeper) of(t reflect.Type) test {
	if known, ok := k.tests[t]; ok {
		return known
	}
	// A recursive type finds this test while it is being built.
	var made test
	k.tests[t] = func(v reflect.Value) bool { return made == nil || made(v) }
	made = k.build(t, k.empty)
	k.tests[t] = made
	return made
}

var never = test(func(reflect.Value) bool { return false })

// build creates the test of a type. empty reports whether empty lists and maps are
// allowed.
func (k *keeper) build(t reflect.Type, empty bool) test {
	if t == reflect.TypeFor[time.Time]() {
		return func(v reflect.Value) bool { return keepsTime(v.Interface().(time.Time)) }
	}
	if t == reflect.TypeFor[api.Reason]() {
		return func(v reflect.Value) bool { return v.Uint() == 0 || api.Reason(v.Uint()).String() != "" }
	}
	if encodesItself(t) || encodesItself(reflect.PointerTo(t)) {
		return never
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float64:
		return nil
	case reflect.String:
		return func(v reflect.Value) bool { return utf8.ValidString(v.String()) }
	case reflect.Pointer:
		elem := k.of(t.Elem())
		if elem == nil {
			return nil
		}
		return func(v reflect.Value) bool { return v.IsNil() || elem(v.Elem()) }
	case reflect.Struct:
		return k.buildStruct(t)
	case reflect.Slice:
		elem, pointers := k.of(t.Elem()), t.Elem().Kind() == reflect.Pointer
		return func(v reflect.Value) bool {
			if v.Len() == 0 {
				return v.IsNil() || empty
			}
			if elem == nil && !pointers {
				return true
			}
			for i := range v.Len() {
				e := v.Index(i)
				if pointers && e.IsNil() || elem != nil && !elem(e) {
					return false
				}
			}
			return true
		}
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return never
		}
		elem, pointers := k.of(t.Elem()), t.Elem().Kind() == reflect.Pointer
		return func(v reflect.Value) bool {
			if v.Len() == 0 {
				return v.IsNil() || empty
			}
			for it := v.MapRange(); it.Next(); {
				e := it.Value()
				if !utf8.ValidString(it.Key().String()) || pointers && e.IsNil() || elem != nil && !elem(e) {
					return false
				}
			}
			return true
		}
	case reflect.Interface:
		return func(v reflect.Value) bool { return v.IsNil() || keepsAny(v.Interface()) }
	}
	return never
}

func (k *keeper) buildStruct(t reflect.Type) test {
	type field struct {
		index int
		test  test
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || f.Anonymous || name == "-" || strings.Contains(options, "string"):
			return never
		case strings.Contains(options, "omitempty"):
			if keeps := k.build(f.Type, false); keeps != nil {
				fields = append(fields, field{i, keeps})
			}
		default:
			if keeps := k.of(f.Type); keeps != nil {
				fields = append(fields, field{i, keeps})
			}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return func(v reflect.Value) bool {
		for _, f := range fields {
			if !f.test(v.Field(f.index)) {
				return false
			}
		}
		return true
	}
}

func encodesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// keepsAny tests values of interface types, which must be of JSON's own types.
func keepsAny(v any) bool {
	switch v := v.(type) {
	case nil, bool, float64:
		return true
	case string:
		return utf8.ValidString(v)
	case []any:
		for _, e := range v {
			if !keepsAny(e) {
				return false
			}
		}
		return v != nil
	case map[string]any:
		for key, e := range v {
			if !utf8.ValidString(key) || !keepsAny(e) {
				return false
			}
		}
		return v != nil
	}
	return false
}

// keepsTime reports whether the time is in UTC, in the range of Unix nanoseconds, and
// without a monotonic clock reading.
func keepsTime(t time.Time) bool {
	return t == time.Time{} || t == time.Unix(0, t.UnixNano()).UTC()
}

// hasLifecycles reports whether the allocation has the lifecycles of its tasks,
// which are set only in responses.
func hasLifecycles(a *api.Allocation) bool {
	return a.AllocatedResources != nil && a.AllocatedResources.TaskLifecycles != nil
}
