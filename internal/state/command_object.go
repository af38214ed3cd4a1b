// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// putObject stores an object of a declared noun, new or changed.
type putObject[T any] struct {
	noun   *noun[T]
	object *T
	// enforce, if set, is the ModifyIndex that the stored object must have; 0: the object
	// must not exist.
	enforce *uint64
}

// Name implements Command.
func (c *putObject[T]) Name() string { return "Put" + c.noun.verb }

func (c *putObject[T]) apply(t *txn) error {
	if err := c.check(t); err != nil {
		return err
	}
	c.do(t)
	return nil
}

// check returns an error if the object cannot be put.
func (c *putObject[T]) check(t *txn) error {
	if c.object == nil {
		return api.Errorf(api.CodeInvalid, "the object to put is missing")
	}
	key := c.noun.key(c.object)
	old := c.noun.find(t.content, key)
	if err := c.noun.enforce(key, old, c.enforce); err != nil {
		return err
	}
	if c.noun.admit != nil {
		object := *c.object
		return c.noun.admit(c.noun, t.content, old, &object)
	}
	return nil
}

// do puts the object, which check has accepted.
func (c *putObject[T]) do(t *txn) {
	object := *c.object
	c.noun.put(t, &object)
}

func (c *putObject[T]) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_PutObject{PutObject: &wire.PutObject{
		Noun: c.noun.name, ObjectJson: document(c.object), EnforceIndex: c.enforce,
	}}}
}

func decodePutObject(w *wire.PutObject) (Command, error) {
	n := nounNamed(w.GetNoun())
	if n == nil {
		return nil, unknownNoun(w.GetNoun())
	}
	return n.decodePut(w.GetObjectJson(), w.EnforceIndex)
}

func (n *noun[T]) decodePut(text []byte, enforce *uint64) (Command, error) {
	object := new(T)
	var err error
	if n.decode != nil {
		object, err = n.decode(text)
	} else {
		err = json.Unmarshal(text, object)
	}
	if err != nil {
		return nil, err
	}
	return &putObject[T]{n, object, enforce}, nil
}

// deleteObject deletes an object of a declared noun.
type deleteObject[T any] struct {
	noun    *noun[T]
	key     string
	enforce *uint64 // as in putObject
}

// Name implements Command.
func (c *deleteObject[T]) Name() string { return "Delete" + c.noun.verb }

func (c *deleteObject[T]) apply(t *txn) error {
	old := c.noun.find(t.content, c.key)
	if old == nil {
		return api.Errorf(api.CodeNotFound, "%s %q not found", c.noun.singular, c.key)
	}
	if err := c.noun.enforce(c.key, old, c.enforce); err != nil {
		return err
	}
	if c.noun.admit != nil {
		if err := c.noun.admit(c.noun, t.content, old, nil); err != nil {
			return err
		}
	}
	c.noun.delete(t, c.key)
	return nil
}

func (c *deleteObject[T]) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_DeleteObject{DeleteObject: &wire.DeleteObject{
		Noun: c.noun.name, Key: c.key, EnforceIndex: c.enforce,
	}}}
}

func decodeDeleteObject(w *wire.DeleteObject) (Command, error) {
	n := nounNamed(w.GetNoun())
	if n == nil {
		return nil, unknownNoun(w.GetNoun())
	}
	return n.decodeDelete(w.GetKey(), w.EnforceIndex), nil
}

func (n *noun[T]) decodeDelete(key string, enforce *uint64) Command {
	return &deleteObject[T]{n, key, enforce}
}

// enforce rejects a change that is based on an older state of the object.
func (n *noun[T]) enforce(key string, old *T, index *uint64) error {
	if index == nil {
		return nil
	}
	var is uint64
	if old != nil {
		_, modify := n.stamp(old)
		is = *modify
	}
	if is != *index {
		return api.Errorf(api.CodeConflict, "%s %q has modify index %d, not %d: read it again and repeat the change", n.singular, key, is, *index)
	}
	return nil
}

func unknownNoun(name string) error {
	return fmt.Errorf("unknown kind of object %q: it was written by a newer version of Reeve", name)
}
