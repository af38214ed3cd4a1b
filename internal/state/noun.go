// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// A noun is one kind of independent stored object: no row of another table points to its
// rows. Node pools and namespaces are nouns. Allocations are not, because jobs, nodes and
// deployments list them.
//
// Declaring a noun gives it a table, a place in snapshots, changes in the feed, and
// commands that put and delete its objects. Everything that the store knows about a noun
// is in the file that declares it.
type noun[T any] struct {
	name     string          // plural; names the table in snapshots and in the log: never change it
	singular string          // for messages
	verb     string          // singular in camel case; names the commands: "Put" + verb
	frame    byte            // kind of the noun's frames in snapshots: never change or reuse it
	key      func(*T) string // identifies an object; lists are ordered by it
	// groups returns what else an object is found by, such as an owner, each at most once. They
	// may change with the object. If it is nil, the noun has no groups.
	groups func(*T) []string
	// stamp returns pointers to the object's create and modify indexes.
	stamp func(*T) (create, modify *uint64)
	// builtIn lists objects that exist without being stored, ordered by key. A stored
	// object of the same key takes the place of a built-in one.
	builtIn []*T
	// topic names the noun's topic in the event stream; "": none. eventType returns the
	// type of the event that reports a change of an object.
	topic     string
	eventType func(Op, *T) string
	search    string // context of the noun in searches; "": none
	// eventKey returns the key, namespace and filter keys of an object's events. If it is
	// nil, the key is that of the object.
	eventKey func(*T) EventKey
	// admit returns an error if the change is not allowed. old is nil for a new object,
	// new for a deleted one. A nil admit allows every change. It reads objects of the noun
	// through n: the noun's variable is not initialized yet where admit is declared.
	admit func(n *noun[T], c *content, old, new *T) error
	// changed is called after a change of an object, and changes other nouns that depend
	// on it. old is nil for a new object, new for a deleted one. It must not change its
	// own noun.
	changed func(t *txn, old, new *T)
	// same reports whether a changed object is the old one for its readers, in another form: then it
	// keeps its modify index. If it is nil, every put is a change.
	same func(old, new *T) bool
	// alsoWrites returns the objects with a check-and-set that changed may write when an object is put. If it
	// is nil, changed writes none.
	alsoWrites func(*T) []Object
	// since returns the feature level that an object needs, and what its command does; nil as the
	// object is a deletion. If it is nil, all objects need the first level.
	since func(*T) (level int, does string)
	// decode reads an object as a log or snapshot has it; nil: as plain JSON.
	decode func(text []byte) (*T, error)
	// count returns a pointer to the noun's counter in the end record of snapshots. If it
	// is nil, endRecord.Nouns counts the objects.
	count func(*endRecord) *int

	table Table
}

// A registered noun is a noun as the store sees it, independent of its type.
type registered interface {
	title() string
	kind() byte
	isCounted() bool
	isLeveled() bool
	empty() rows
	describe() Noun
	write(v *Snapshot, f *frameWriter, end *endRecord)
	load(l *loader, payload []byte) error
	decodePut(object []byte, enforce *uint64) (Command, error)
	decodeDelete(key string, enforce *uint64) Command
}

// nouns lists the declared nouns, in the order of their tables.
var nouns []registered

// declare registers a noun. Call it to initialize a package-level variable.
func declare[T any](n noun[T]) *noun[T] {
	n.table = coreTables + Table(len(nouns))
	for _, other := range nouns {
		if other.title() == n.name || other.kind() == n.frame {
			panic("noun " + n.name + " is declared twice, or shares its frame with " + other.title())
		}
	}
	nouns = append(nouns, &n)
	return &n
}

// nounNamed returns the noun whose table has the name; nil if it does not exist.
func nounNamed(name string) registered {
	for _, n := range nouns {
		if n.title() == name {
			return n
		}
	}
	return nil
}

// nounOfFrame returns the noun whose objects are stored in frames of that kind, nil if
// there is none.
func nounOfFrame(kind byte) registered {
	for _, n := range nouns {
		if n.kind() == kind {
			return n
		}
	}
	return nil
}

// rows holds the objects of one noun.
type rows interface {
	// published returns an immutable copy. previous is the last published copy.
	published(previous rows) rows
}

// nounRows implements rows.
type nounRows[T any] struct {
	table[*T]
	groups  table[*T] // by group and key
	changed bool      // reports whether the rows changed since they were last published
}

func (r *nounRows[T]) published(previous rows) rows {
	if !r.changed {
		return previous
	}
	r.changed = false
	was := previous.(*nounRows[T])
	return &nounRows[T]{table: r.table.published(&was.table), groups: r.groups.published(&was.groups)}
}

// publishNouns returns the rows for readers. previous holds the last published ones.
func publishNouns(all, previous []rows) []rows {
	published := previous
	for i, r := range all {
		now := r.published(previous[i])
		if now == previous[i] {
			continue
		}
		if &published[0] == &previous[0] {
			published = slices.Clone(previous)
		}
		published[i] = now
	}
	return published
}

func (n *noun[T]) title() string { return n.name }
func (n *noun[T]) kind() byte    { return n.frame }

// isCounted reports whether the end record has a separate counter for the noun.
func (n *noun[T]) isCounted() bool { return n.count != nil }

// empty returns empty rows that replace all previously published rows.
func (n *noun[T]) empty() rows {
	return &nounRows[T]{table: newTable[*T](), groups: newTable[*T](), changed: true}
}

func (n *noun[T]) in(c *content) *nounRows[T] { return c.nouns[n.table-coreTables].(*nounRows[T]) }

// find returns the object of that key, nil if it does not exist.
func (n *noun[T]) find(c *content, key string) *T {
	if row := n.in(c).find(key); row != nil {
		return *row
	}
	for _, object := range n.builtIn {
		if n.key(object) == key {
			return object
		}
	}
	return nil
}

// all yields the objects whose key begins with prefix, ordered by key.
func (n *noun[T]) all(c *content, prefix string) iter.Seq[*T] {
	if len(n.builtIn) == 0 {
		return n.stored(c, prefix)
	}
	all := slices.Collect(n.stored(c, prefix))
	for _, object := range n.builtIn {
		key := n.key(object)
		at, found := slices.BinarySearchFunc(all, key, func(o *T, key string) int { return strings.Compare(n.key(o), key) })
		if !found && strings.HasPrefix(key, prefix) {
			all = slices.Insert(all, at, object)
		}
	}
	return slices.Values(all)
}

// stored yields the stored objects whose key begins with prefix, ordered by key.
func (n *noun[T]) stored(c *content, prefix string) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		n.in(c).prefix(prefix, func(_ string, row **T) bool { return yield(*row) })
	}
}

// ofGroup yields the stored objects of a group, ordered by key.
func (n *noun[T]) ofGroup(c *content, group string) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		n.in(c).groups.prefix(groupName(group, ""), func(_ string, row **T) bool { return yield(*row) })
	}
}

func groupName(group, key string) string { return group + "\x00" + key }

// put stamps and stores the object, which becomes part of the store.
func (n *noun[T]) put(t *txn, object *T) {
	old := n.find(t.content, n.key(object))
	n.store(t, object)
	create, modify := n.stamp(object)
	*create, *modify = t.index, t.index
	if old != nil {
		created, modified := n.stamp(old)
		*create = *created
		if n.same != nil && n.same(old, object) {
			*modify = *modified
		}
	}
	t.emit(n.table, Put, orNil(old), object)
	if n.changed != nil {
		n.changed(t, old, object)
	}
}

// store sets the row of the object's key and returns the previous object.
func (n *noun[T]) store(t *txn, object *T) (old *T) {
	r := n.in(t.content)
	_, row := r.ensure(t.gen, n.key(object))
	old, *row, r.changed = *row, object, true
	n.regroup(t, old, object)
	return old
}

// regroup replaces an object by another of the same key in the groups. old is nil for a new
// object, new for a deleted one.
func (n *noun[T]) regroup(t *txn, old, new *T) {
	if n.groups == nil {
		return
	}
	var before, now []string
	if old != nil {
		before = n.groups(old)
	}
	if new != nil {
		now = n.groups(new)
	}
	groups := &n.in(t.content).groups
	for _, group := range before {
		if slices.Contains(now, group) {
			continue
		}
		name := groupName(group, n.key(old))
		if slot, ok := groups.ids.get(name); ok {
			groups.remove(t.gen, name, slot)
		}
	}
	for _, group := range now {
		_, row := groups.ensure(t.gen, groupName(group, n.key(new)))
		*row = new
	}
}

// delete deletes the object of that key if it exists.
func (n *noun[T]) delete(t *txn, key string) {
	r := n.in(t.content)
	slot, ok := r.ids.get(key)
	if !ok {
		return
	}
	old := *r.rows.at(slot)
	r.remove(t.gen, key, slot)
	n.regroup(t, old, nil)
	r.changed = true
	t.emit(n.table, Delete, old, nil)
	if n.changed != nil {
		n.changed(t, old, nil)
	}
}

// write appends the noun's frames to a snapshot.
func (n *noun[T]) write(v *Snapshot, f *frameWriter, end *endRecord) {
	n.tally(end, writeChunks(f, n.frame, n.stored(&v.content, "")))
}

// load stores the objects of a snapshot's frame.
func (n *noun[T]) load(l *loader, payload []byte) error {
	var loaded int
	store := func(object *T) error {
		if old := n.store(&l.txn, object); old != nil {
			return fmt.Errorf("%s %q occurs twice", n.name, n.key(object))
		}
		return nil
	}
	var err error
	if n.decode == nil {
		err = loadFrame(payload, &loaded, store)
	} else {
		err = loadFrame(payload, &loaded, func(text *json.RawMessage) error {
			object, err := n.decode(*text)
			if err != nil {
				return err
			}
			return store(object)
		})
	}
	n.tally(&l.seen, loaded)
	return err
}

// loadFrame decodes a frame's objects, and stores and counts them.
func loadFrame[T any](payload []byte, seen *int, store func(*T) error) error {
	objects, err := decode[[]*T](payload)
	if err != nil {
		return err
	}
	return loadEach(*objects, seen, store)
}

// tally adds to the noun's count of objects in the end record.
func (n *noun[T]) tally(end *endRecord, objects int) {
	switch {
	case n.count != nil:
		*n.count(end) += objects
	case objects > 0:
		if end.Nouns == nil {
			end.Nouns = map[string]int{}
		}
		end.Nouns[n.name] += objects
	}
}
