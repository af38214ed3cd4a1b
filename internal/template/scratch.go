// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"maps"
	"reflect"
	"slices"
)

// scratch keeps values for the duration of a rendering.
type scratch struct {
	x      *execution
	values map[string]any
}

// String keeps a printed scratch from showing what it holds.
func (*scratch) String() string { return "scratch" }

func (s *scratch) charge(v any) error {
	if err := s.x.weigh(reflect.ValueOf(v), 0); err != nil {
		return s.x.fail("scratch", err)
	}
	return nil
}

// Key reports whether a key has a value.
func (s *scratch) Key(key string) bool {
	_, ok := s.values[key]
	return ok
}

// Get returns the value of a key.
func (s *scratch) Get(key string) any { return s.values[key] }

// Set sets the value of a key.
func (s *scratch) Set(key string, v any) (string, error) {
	s.values[key] = v
	return "", s.charge(v)
}

// SetX sets the value of a key that has none.
func (s *scratch) SetX(key string, v any) (string, error) {
	if s.Key(key) {
		return "", nil
	}
	return s.Set(key, v)
}

func (s *scratch) mapAt(key string) (map[string]any, error) {
	if s.values[key] == nil {
		s.values[key] = map[string]any{}
	}
	m, ok := s.values[key].(map[string]any)
	if !ok {
		return nil, &failure{"scratch", "the value of the key is not a map"}
	}
	return m, nil
}

// MapSet sets a field of the map of a key.
func (s *scratch) MapSet(key, field string, v any) (string, error) {
	m, err := s.mapAt(key)
	if err != nil {
		return "", err
	}
	if err := s.charge(v); err != nil {
		return "", err
	}
	// A copy: a map that held itself would have no end.
	m = maps.Clone(m)
	m[field] = v
	s.values[key] = m
	return "", s.charge(m)
}

// MapSetX sets a field of the map of a key, if it has none.
func (s *scratch) MapSetX(key, field string, v any) (string, error) {
	m, err := s.mapAt(key)
	if err != nil {
		return "", err
	}
	if _, ok := m[field]; ok {
		return "", nil
	}
	return s.MapSet(key, field, v)
}

// MapValues returns the values of the map of a key, in the order of its fields.
func (s *scratch) MapValues(key string) ([]any, error) {
	m, err := s.mapAt(key)
	if err != nil {
		return nil, err
	}
	all := make([]any, 0, len(m))
	for _, field := range slices.Sorted(maps.Keys(m)) {
		all = append(all, m[field])
	}
	return all, nil
}
