// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
)

// An Item is the value of one key of a variable.
type Item string

// Value returns the item as a text.
func (i Item) Value() string { return string(i) }

// A Tuple is one item of a variable.
type Tuple struct{ K, V, Key, Value string }

// Items are the items of a variable by key, so that {{.key}} is an item.
type Items map[string]Item

// Keys returns the keys, sorted.
func (m Items) Keys() []string { return slices.Sorted(maps.Keys(m)) }

// Values returns the items in the order of their keys.
func (m Items) Values() []Item {
	all := make([]Item, 0, len(m))
	for _, key := range m.Keys() {
		all = append(all, m[key])
	}
	return all
}

// Tuples returns keys and items in the order of the keys.
func (m Items) Tuples() []Tuple {
	all := make([]Tuple, 0, len(m))
	for _, key := range m.Keys() {
		all = append(all, Tuple{key, string(m[key]), key, string(m[key])})
	}
	return all
}

func (x *execution) nomadVar(path string) (Items, error) {
	d := parseDependency(Variable, path)
	if d.Name == "" {
		return nil, errors.New("the path of the variable is empty")
	}
	v := x.value(d, true)
	m := make(Items, len(v.Items))
	for key, value := range v.Items {
		m[key] = Item(value)
	}
	x.describe(m, v)
	return m, nil
}

func (x *execution) nomadVarExists(path string) bool {
	return x.value(parseDependency(Variable, path), false).State == Present
}

func (x *execution) nomadVarList(prefix ...string) ([]VariableMetadata, error) {
	if len(prefix) > 1 {
		return nil, errors.New("it takes at most one prefix")
	}
	d := Dependency{Kind: Variables}
	if len(prefix) == 1 {
		d = parseDependency(Variables, prefix[0])
	}
	return x.value(d, false).Variables, nil
}

func (x *execution) nomadVarListSafe(prefix ...string) ([]VariableMetadata, error) {
	all, err := x.nomadVarList(prefix...)
	if err == nil && len(all) == 0 {
		d := Dependency{Kind: Variables}
		if len(prefix) == 1 {
			d = parseDependency(Variables, prefix[0])
		}
		x.missing = append(x.missing, Missing{d, Absent})
	}
	return all, err
}

// nomadService takes a name, or a number, a key and a name.
func (x *execution) nomadService(args ...any) ([]ServiceInstance, error) {
	usage := errors.New("it takes the name of a service, or a number, a key and the name")
	if len(args) != 1 && len(args) != 3 {
		return nil, usage
	}
	name, ok := args[len(args)-1].(string)
	if !ok || name == "" {
		return nil, usage
	}
	all := x.value(parseDependency(Service, name), false).Instances
	if len(args) == 1 {
		return all, nil
	}
	n, whole := asInt(args[0])
	key, isText := asText(args[1])
	if !whole || !isText || n < 1 {
		return nil, usage
	}
	return x.source.Choose(all, int(min(n, int64(len(all)))), key), nil
}

func (x *execution) nomadServices(namespace ...string) ([]ServiceName, error) {
	if len(namespace) > 1 {
		return nil, errors.New("it takes at most one namespace")
	}
	d := Dependency{Kind: Services}
	if len(namespace) == 1 {
		d.Namespace = strings.TrimPrefix(namespace[0], "@")
	}
	return x.value(d, false).Services, nil
}

func (x *execution) env(name string) string {
	v, _ := x.source.Env(name)
	return v
}

func (x *execution) envOrDefault(name, value string) string {
	if v, ok := x.source.Env(name); ok && v != "" {
		return v
	}
	return value
}

func (x *execution) mustEnv(name string) (string, error) {
	v, ok := x.source.Env(name)
	if !ok {
		return "", errors.New("the task has no such environment variable")
	}
	return v, nil
}

func (x *execution) file(name string) (string, error) {
	if err := x.charge(x.limits.Steps / 100); err != nil { // reading costs more than its bytes
		return "", err
	}
	return x.source.File(path.Clean(name))
}

// byTag groups instances by their tags.
func byTag(all []ServiceInstance) map[string][]ServiceInstance {
	m := map[string][]ServiceInstance{}
	for _, s := range all {
		for _, tag := range s.Tags {
			m[tag] = append(m[tag], s)
		}
	}
	return m
}

// byMeta groups instances by the values of keys, which are separated by commas.
func byMeta(keys string, all []ServiceInstance) map[string][]ServiceInstance {
	m := map[string][]ServiceInstance{}
	for _, s := range all {
		var parts []string
		for key := range strings.SplitSeq(keys, ",") {
			parts = append(parts, s.Meta[strings.TrimSpace(key)])
		}
		group := strings.Join(parts, "_")
		m[group] = append(m[group], s)
	}
	return m
}
