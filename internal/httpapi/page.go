// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// key is an object's place in a list: by index, then namespace, then id. Lists
// leave out what they do not sort by.
type key struct {
	index     uint64
	namespace string
	id        string
}

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.index, other.index), cmp.Compare(k.namespace, other.namespace), cmp.Compare(k.id, other.id))
}

// order is the sort order of a list. The token of a page is the readable key of the next
// page's first object.
type order[T any] struct {
	key    func(T) key
	stored bool // the table iterates in this order
	ready  bool // the objects come in the order of the request, also if that is reversed
	dated  bool // keys have an index
	byName bool // keys have a namespace

	// seen returns what a filter may compare of an object; nil: the whole object. Otherwise a filter would show,
	// character by character, what the list does not.
	seen func(*call, T) any
}

// matches reports whether the caller's filter selects an object.
func (o order[T]) matches(c *call, object T) (bool, error) {
	if c.filter == nil {
		return true, nil
	}
	if o.seen != nil {
		return c.filter.Matches(o.seen(c, object))
	}
	return c.filter.Matches(object)
}

func (o order[T]) token(k key) string {
	switch {
	case o.dated:
		return strconv.FormatUint(k.index, 10) + "." + k.id
	case o.byName:
		return k.namespace + "." + k.id
	}
	return k.id
}

func (o order[T]) parseToken(s string) (key, error) {
	head, id, dotted := strings.Cut(s, ".")
	switch {
	case o.dated:
		index, err := strconv.ParseUint(head, 10, 64)
		if err != nil || !dotted {
			return key{}, api.Errorf(api.CodeInvalid, "next_token: %q is not one that this list gave out", s)
		}
		return key{index: index, id: id}, nil
	case o.byName && dotted:
		return key{namespace: head, id: id}, nil
	case o.byName:
		return key{namespace: api.DefaultNamespace, id: s}, nil
	}
	return key{id: s}, nil
}

// pageOf returns the requested page, sorted, and sets the call's next token. It reads
// every object once and holds at most about two pages.
func pageOf[T any](c *call, o order[T], objects iter.Seq[T]) ([]T, error) {
	direction := 1
	if c.reverse {
		direction = -1
	}
	from := key{}
	if c.token != "" {
		var err error
		if from, err = o.parseToken(c.token); err != nil {
			return nil, err
		}
	}
	sorted := o.ready || o.stored && !c.reverse
	compare := func(a, b T) int { return direction * o.key(a).compare(o.key(b)) }
	var page []T
	for object := range objects {
		if c.token != "" && direction*o.key(object).compare(from) < 0 {
			continue
		}
		if ok, err := o.matches(c, object); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		page = append(page, object)
		if c.perPage == 0 {
			continue
		}
		if sorted && len(page) > c.perPage {
			break
		}
		if len(page) > 2*(c.perPage+1) {
			slices.SortFunc(page, compare)
			clear(page[c.perPage+1:])
			page = page[:c.perPage+1]
		}
	}
	if !sorted {
		slices.SortFunc(page, compare)
	}
	c.nextToken = ""
	if c.perPage > 0 && len(page) > c.perPage {
		c.nextToken = o.token(o.key(page[c.perPage]))
		page = page[:c.perPage]
	}
	return page, nil
}
