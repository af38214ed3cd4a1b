// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"github.com/reeve-run/reeve/api"
)

// service is a name that something is offered under.
type service struct {
	namespace, name string
	index           uint64 // log index of the last change
	all             btree.Map[string, *api.ServiceRegistration]
	tags            map[string]int // how many registrations have it
}

// key orders services by namespace and name.
func key(namespace, name string) string { return namespace + "\x00" + name }

// put adds an entry, whose registrations are not there yet or stay the same.
func (c *Catalog) put(e *api.CatalogEntry, index uint64) {
	c.entries.Set(e.AllocID, e)
	for _, r := range e.Services {
		k := key(r.Namespace, r.ServiceName)
		s, ok := c.services.Get(k)
		if !ok {
			s = &service{namespace: r.Namespace, name: r.ServiceName, tags: map[string]int{}}
			c.services.Set(k, s)
			c.names = max(c.names, index)
		}
		before, had := s.all.Set(r.ID, r)
		if had && before == r {
			continue
		}
		c.tag(s, r.Tags, 1, index)
		if had {
			c.tag(s, before.Tags, -1, index)
		}
		c.changed(s, k, index)
	}
}

// remove takes out the registrations of an entry, except those that the next
// one has, too.
func (c *Catalog) remove(e, next *api.CatalogEntry, index uint64) {
	for _, r := range e.Services {
		if next != nil && slices.Contains(next.Services, r) {
			continue
		}
		k := key(r.Namespace, r.ServiceName)
		s, ok := c.services.Get(k)
		if !ok {
			continue
		}
		before, had := s.all.Delete(r.ID)
		if !had {
			continue
		}
		c.tag(s, before.Tags, -1, index)
		c.changed(s, k, index)
		if s.all.Len() == 0 && !offers(next, r) {
			c.services.Delete(k)
			c.names, c.gone = max(c.names, index), max(c.gone, index)
		}
	}
}

// offers reports whether an entry has a registration of the same service.
func offers(e *api.CatalogEntry, r *api.ServiceRegistration) bool {
	return e != nil && slices.ContainsFunc(e.Services, func(n *api.ServiceRegistration) bool {
		return n.Namespace == r.Namespace && n.ServiceName == r.ServiceName
	})
}

func (c *Catalog) tag(s *service, tags []string, n int, index uint64) {
	for i, t := range tags {
		if slices.Contains(tags[:i], t) {
			continue
		}
		was := s.tags[t]
		s.tags[t] = was + n
		if was+n == 0 {
			delete(s.tags, t)
		}
		if was == 0 || was+n == 0 {
			c.names = max(c.names, index)
		}
	}
}

func (c *Catalog) changed(s *service, key string, index uint64) {
	s.index = max(s.index, index)
	c.waiters.wake(key)
}

// Service returns a service's registrations by id, and the index of their last change. For
// registrations that have not changed since the server started, it is a lower bound.
func (c *Catalog) Service(namespace, name string) ([]*api.ServiceRegistration, uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.services.Get(key(namespace, name))
	if !ok {
		return nil, max(c.floor, c.gone)
	}
	return s.all.Values(), max(c.floor, s.index)
}

// ServiceEverywhere is Service for all namespaces.
func (c *Catalog) ServiceEverywhere(name string) (all []*api.ServiceRegistration, index uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	index = max(c.floor, c.gone)
	c.services.Scan(func(_ string, s *service) bool {
		if s.name == name {
			all, index = append(all, s.all.Values()...), max(index, s.index)
		}
		return true
	})
	return all, index
}

// A Name is a service without what offers it.
type Name struct {
	Namespace   string
	ServiceName string
	Tags        []string // of all that offer it, sorted; not nil
}

// Names lists the services of a namespace, "" for all, and the index at which
// that list was last changed.
func (c *Catalog) Names(namespace string) (all []Name, index uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	from := ""
	if namespace != "" {
		from = key(namespace, "")
	}
	c.services.Ascend(from, func(k string, s *service) bool {
		if !strings.HasPrefix(k, from) {
			return false
		}
		tags := slices.AppendSeq(make([]string, 0, len(s.tags)), maps.Keys(s.tags))
		slices.Sort(tags)
		all = append(all, Name{s.namespace, s.name, tags})
		return true
	})
	return all, c.names
}
