// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// zone is what is known of the catalog, by name. Names are in lower case,
// without what all have in common.
type zone struct {
	mu         sync.RWMutex
	known      bool   // a complete update came
	index      uint64 // of the last update
	entries    map[string]*api.CatalogEntry
	services   map[inNamespace][]offer // by service
	instances  map[inNamespace][]offer // by INDEX.GROUP.JOB
	namespaces map[string]int          // number of services by namespace
	above      map[string]int          // names above instances, and how many are below
	stacks     stacks
}

// inNamespace is a name within a namespace. Both are in lower case. The namespace is
// written as in DNS: that of dev/sandbox is sandbox.dev. Names and namespaces may contain
// dots, so the two are not joined.
type inNamespace struct{ name, namespace string }

// offer is where something is offered.
type offer struct {
	alloc  string
	ip     netip.Addr // not valid: the address is a name
	host   string     // then this one, ending with a dot
	port   uint16
	weight uint16
	tags   []string
}

func newZone() *zone {
	z := &zone{}
	z.clear()
	return z
}

func (z *zone) clear() {
	z.entries, z.services, z.instances = map[string]*api.CatalogEntry{}, map[inNamespace][]offer{}, map[inNamespace][]offer{}
	z.namespaces, z.above = map[string]int{}, map[string]int{}
	z.stacks = newStacks()
}

// update takes over a message of the catalog's stream.
func (z *zone) update(u *api.CatalogUpdate) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if u.Complete {
		z.clear()
		z.known = true
	}
	for _, id := range u.Removed {
		z.remove(id)
	}
	for _, e := range u.Entries {
		z.remove(e.AllocID)
		z.add(e)
	}
	z.stacks.directory.Apply(u)
	z.index = u.Index
}

func (z *zone) add(e *api.CatalogEntry) {
	z.entries[e.AllocID] = e
	for _, r := range e.Services {
		name := serviceName(r)
		if len(z.services[name]) == 0 {
			z.namespaces[name.namespace]++
		}
		z.services[name] = append(z.services[name], offerOf(r))
	}
	name := instanceName(e)
	z.instances[name] = append(z.instances[name], offersOf(e)...)
	for above := range parents(name.name + "." + name.namespace) {
		z.above[above]++
	}
	z.stacks.add(e)
}

func (z *zone) remove(alloc string) {
	e, ok := z.entries[alloc]
	if !ok {
		return
	}
	delete(z.entries, alloc)
	for _, r := range e.Services {
		if name := serviceName(r); len(z.services[name]) > 0 && without(z.services, name, alloc) {
			countDown(z.namespaces, name.namespace)
		}
	}
	name := instanceName(e)
	without(z.instances, name, alloc)
	for above := range parents(name.name + "." + name.namespace) {
		countDown(z.above, above)
	}
	z.stacks.remove(e)
}

// without takes an allocation's offers out of a name's, and reports whether none
// is left. Lists are never changed: readers may hold them.
func without(of map[inNamespace][]offer, name inNamespace, alloc string) bool {
	var rest []offer
	for _, o := range of[name] {
		if o.alloc != alloc {
			rest = append(rest, o)
		}
	}
	if len(rest) == 0 {
		delete(of, name)
		return true
	}
	of[name] = rest
	return false
}

func countDown(counts map[string]int, name string) bool {
	counts[name]--
	if counts[name] > 0 {
		return false
	}
	delete(counts, name)
	return true
}

func serviceName(r *api.ServiceRegistration) inNamespace {
	return inNamespace{strings.ToLower(r.ServiceName), lifecycle.NamespaceName(r.Namespace)}
}

func instanceName(e *api.CatalogEntry) inNamespace {
	return inNamespace{strings.ToLower(strconv.Itoa(e.Instance) + "." + e.Group + "." + e.JobID), lifecycle.NamespaceName(e.Namespace)}
}

// parents yields the names above a name.
func parents(name string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for {
			_, rest, ok := strings.Cut(name, ".")
			if !ok || !yield(rest) {
				return
			}
			name = rest
		}
	}
}

func offerOf(r *api.ServiceRegistration) offer {
	o := offer{alloc: r.AllocID, port: uint16(r.Port), weight: uint16(min(max(r.Weight, 1), 65535)), tags: r.Tags}
	o.at(r.Address)
	return o
}

func (o *offer) at(address string) {
	if ip, err := netip.ParseAddr(address); err == nil {
		o.ip = ip.Unmap().WithZone("")
		return
	}
	o.host = strings.ToLower(strings.TrimSuffix(address, ".")) + "."
}

// offersOf are all ends of an instance: of its services, and of its routes.
func offersOf(e *api.CatalogEntry) []offer {
	var all []offer
	add := func(o offer) {
		if !slices.ContainsFunc(all, func(x offer) bool { return x.ip == o.ip && x.host == o.host && x.port == o.port }) {
			all = append(all, o)
		}
	}
	for _, r := range e.Services {
		add(offerOf(r))
	}
	for _, end := range e.Endpoints {
		if at, err := netip.ParseAddrPort(end.Address); err == nil {
			add(offer{alloc: e.AllocID, ip: at.Addr().Unmap().WithZone(""), port: at.Port(), weight: 1})
		}
	}
	return all
}
