// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jsondoc

import (
	"hash/maphash"
	"reflect"
	"sync/atomic"
)

// Bounds of what a pool keeps: at most poolObjects * maxShared bytes of texts and the objects
// of these texts, and poolStrings * maxString bytes of strings.
const (
	poolObjects = 1 << 11
	maxShared   = 2 << 10
	poolStrings = 1 << 12
	maxString   = 40

	maxSharedTexts = 64 // bytes of a map of strings; most longer ones are unique
)

// A pool keeps recent objects and short strings, so that equal ones occur in memory once.
// Newer ones replace older ones at the same place: a pool is a help, not a promise.
type pool struct {
	objects [poolObjects]atomic.Pointer[sharedObject]
	strings [poolStrings]atomic.Pointer[string]
}

var seed = maphash.MakeSeed()

// A sharedObject is the pointer to the object, or the map, that a text means, or none yet.
type sharedObject struct {
	of     reflect.Type
	text   string
	place  uint64
	object reflect.Value
}

// object returns the kept object of a text, or a place for one.
func (p *pool) object(of reflect.Type, text []byte) *sharedObject {
	place := maphash.Bytes(seed, text) % poolObjects
	if s := p.objects[place].Load(); s != nil && s.of == of && s.text == string(text) {
		return s
	}
	return &sharedObject{of: of, place: place}
}

// keep keeps an object at the place that was returned for its text.
func (p *pool) keep(s *sharedObject, text []byte, object reflect.Value) {
	s.text, s.object = string(text), object
	p.objects[s.place].Store(s)
}

// str returns a string with that content.
func (p *pool) str(content []byte) string {
	if len(content) == 0 {
		return ""
	}
	if len(content) > maxString {
		return string(content)
	}
	place := &p.strings[maphash.Bytes(seed, content)%poolStrings]
	if s := place.Load(); s != nil && *s == string(content) {
		return *s
	}
	s := string(content)
	place.Store(&s)
	return s
}

// Text returns an equal string, which other values may contain, too.
func (d *Decoder) Text(s string) string {
	if len(s) == 0 || len(s) > maxString {
		return s
	}
	place := &d.pool.strings[maphash.String(seed, s)%poolStrings]
	if known := place.Load(); known != nil && *known == s {
		return *known
	}
	place.Store(&s)
	return s
}
