// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A modelDecoder decodes a JSON or YAML tree into the api types by their JSON keys, which may
// differ in case and underscores.
type modelDecoder struct {
	problems
	syntax  string
	places  map[place]span // positions of parts of the job
	section *section       // the job; nil unless positions are recorded
	lenient bool           // numbers and booleans may stand for text, as users of YAML expect
}

// job decodes the document: a job, or the content of a register request.
func (m *modelDecoder) job(root *node) (*api.Job, error) {
	if root == nil {
		return nil, m.err()
	}
	if root.kind != objectNode {
		m.add(root.at, "a job in %s must be an object, not %s", m.syntax, root.describe())
		return nil, m.err()
	}
	at := root
	for _, f := range root.fields {
		if fold(f.name) == "job" {
			at = f.value
		}
	}
	if at != root {
		var request api.RegisterJobRequest
		envelope := *root
		envelope.fields = slices.DeleteFunc(slices.Clone(root.fields), func(f field) bool { return fold(f.name) == "job" })
		m.decode(&envelope, reflect.ValueOf(&request).Elem(), "request")
		if at.kind != objectNode {
			m.add(at.at, "\"Job\" must be an object, not %s", at.describe())
			return nil, m.err()
		}
		if name := hclInJSON(at); name != "" {
			m.add(at.fields[0].at, "this looks like HCL written as JSON: the API's JSON has { \"Job\": { \"ID\": %q, \"TaskGroups\": [...] } }", name)
			return nil, m.err()
		}
	}
	j := new(api.Job)
	m.decode(at, reflect.ValueOf(j).Elem(), "job")
	if m.err() == nil {
		m.checkWhole(j)
	}
	if m.section != nil {
		m.section.note(at)
	}
	if err := m.err(); err != nil {
		return nil, err
	}
	return j, nil
}

// hclInJSON returns the name from { "job": { "NAME": { ... } } }.
func hclInJSON(job *node) string {
	if len(job.fields) != 1 || job.fields[0].value.kind != objectNode && job.fields[0].value.kind != listNode {
		return ""
	}
	if _, known := modelFields(reflect.TypeFor[api.Job]())[fold(job.fields[0].name)]; known {
		return ""
	}
	return job.fields[0].name
}

var durationType = reflect.TypeFor[time.Duration]()

// decode stores a node in a value of an api type. what names the value in errors.
func (m *modelDecoder) decode(n *node, v reflect.Value, what string) {
	if n.kind == nullNode {
		return
	}
	if v.Type() == durationType {
		m.duration(n, v, what)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		m.decode(n, p.Elem(), what)
		v.Set(p)
	case reflect.Struct:
		m.object(n, v, what)
	case reflect.Map:
		m.mapping(n, v, what)
	case reflect.Slice:
		m.slice(n, v, what)
	case reflect.Interface:
		v.Set(reflect.ValueOf(n.plain()))
	case reflect.String:
		if n.kind == textNode || m.lenient && n.isScalar() {
			v.SetString(n.text)
			return
		}
		m.wrong(n, what, "text")
	case reflect.Bool:
		if n.kind == boolNode {
			v.SetBool(n.text == "true")
			return
		}
		m.wrong(n, what, "true or false")
	case reflect.Int, reflect.Int8, reflect.Int64, reflect.Uint8, reflect.Uint64, reflect.Float64:
		m.number(n, v, what)
	default:
		panic("jobspec: the api has a field of type " + v.Type().String())
	}
}

func (m *modelDecoder) mapping(n *node, v reflect.Value, what string) {
	if n.kind != objectNode {
		m.wrong(n, what, "an object")
		return
	}
	out := reflect.MakeMap(v.Type())
	seen := map[string]bool{}
	for _, f := range n.fields {
		if seen[f.name] {
			m.add(f.at, "%q is set twice", f.name)
			continue
		}
		seen[f.name] = true
		e := reflect.New(v.Type().Elem()).Elem()
		m.decode(f.value, e, f.name)
		if f.value.kind == nullNode && e.Kind() != reflect.Interface {
			continue
		}
		out.SetMapIndex(reflect.ValueOf(f.name), e)
	}
	v.Set(out)
}

func (m *modelDecoder) slice(n *node, v reflect.Value, what string) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b, err := base64.StdEncoding.DecodeString(n.text)
		if n.kind != textNode || err != nil {
			m.wrong(n, what, "base64 text")
			return
		}
		v.SetBytes(b)
		return
	}
	if n.kind != listNode {
		m.wrong(n, what, "a list")
		return
	}
	out := reflect.MakeSlice(v.Type(), 0, len(n.items))
	for i, item := range n.items {
		if item.kind == nullNode {
			m.add(item.at, "%q has no value at place %d", what, i+1)
			continue
		}
		e := reflect.New(v.Type().Elem()).Elem()
		m.decode(item, e, fmt.Sprintf("%s[%d]", what, i))
		out = reflect.Append(out, e)
	}
	v.Set(out)
}

func (m *modelDecoder) object(n *node, v reflect.Value, what string) {
	if n.kind != objectNode {
		m.wrong(n, what, "an object")
		return
	}
	fields := modelFields(v.Type())
	seen := map[int]string{}
	for _, f := range n.fields {
		i, ok := fields[fold(f.name)]
		if !ok {
			m.add(f.at, "%s has no key %q%s", nodeTitle(v.Type(), n), f.name, keyHint(v.Type(), f.name, !m.lenient))
			continue
		}
		if earlier, dup := seen[i]; dup {
			m.add(f.at, "%q is set twice%s", f.name, alsoAs(earlier, f.name))
			continue
		}
		seen[i] = f.name
		m.decode(f.value, v.Field(i), f.name)
	}
	m.notePlace(v.Addr().Interface(), n)
	if t, ok := v.Addr().Interface().(*api.Task); ok {
		m.taskConfig(n, t)
	}
}

func alsoAs(earlier, name string) string {
	if earlier == name {
		return ""
	}
	return fmt.Sprintf(", also as %q", earlier)
}

// taskConfig checks the config of a known driver.
func (m *modelDecoder) taskConfig(n *node, t *api.Task) {
	known, ok := api.DriverConfigKeys(t.Driver)
	if !ok {
		return
	}
	for _, f := range n.fields {
		if fold(f.name) != "config" {
			continue
		}
		for _, c := range f.value.fields {
			if !slices.Contains(known, c.name) {
				m.add(c.at, "%s", unknownConfig(t.Driver, c.name, known))
			} else if problem := fixConfig(t.Driver, t.Config, c.name); problem != "" {
				m.add(c.value.at, "%s", problem)
			}
		}
	}
}
