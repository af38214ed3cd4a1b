// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "iter"

// A Noun describes a declared noun to code that treats all nouns alike: the event stream
// and the search. Objects are pointers to the noun's type.
type Noun struct {
	Table     Table
	Topic     string // topic of its events; "": none
	Search    string // context of searches; "": none
	Empty     any    // an object without content
	EventType func(op Op, object any) string
	EventKey  func(object any) EventKey
	Key       func(object any) string
	All       func(v *Snapshot, prefix string) iter.Seq[any] // objects whose key begins with prefix, ordered by key
}

// An EventKey identifies the object of an event.
type EventKey struct {
	Key        string
	Namespace  string   // "": the object has none
	FilterKeys []string // further keys by which followers find the object
}

// Nouns returns the declared nouns, in the order of their tables.
func Nouns() []Noun {
	described := make([]Noun, len(nouns))
	for i, n := range nouns {
		described[i] = n.describe()
	}
	return described
}

func (n *noun[T]) describe() Noun {
	return Noun{
		Table: n.table, Topic: n.topic, Search: n.search, Empty: new(T),
		EventKey: func(object any) EventKey {
			if n.eventKey == nil {
				return EventKey{Key: n.key(object.(*T))}
			}
			return n.eventKey(object.(*T))
		},
		EventType: func(op Op, object any) string { return n.eventType(op, object.(*T)) },
		Key:       func(object any) string { return n.key(object.(*T)) },
		All: func(v *Snapshot, prefix string) iter.Seq[any] {
			return func(yield func(any) bool) {
				for object := range n.all(&v.content, prefix) {
					if !yield(object) {
						return
					}
				}
			}
		},
	}
}

// putOrDelete returns the event types of a noun whose events only distinguish deletions.
func putOrDelete[T any](put, deleted string) func(Op, *T) string {
	return func(op Op, _ *T) string {
		if op == Delete {
			return deleted
		}
		return put
	}
}
