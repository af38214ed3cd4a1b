// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package catalogentry derives an allocation's entry in the catalog: the services
// that the allocation offers, and the endpoints of its group's routes.
//
// It is pure: an allocation in, an entry out. The node and the servers decide
// whether an allocation is routable (see api.Allocation.IsRoutable). Package
// server/catalog keeps all entries and publishes their changes.
package catalogentry

import (
	"maps"
	"net"
	"slices"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// Of returns an allocation's entry, or nil if no traffic may go to it. What the
// entry points to is shared with the allocation, registrations excepted.
func Of(a *api.Allocation) *api.CatalogEntry {
	if !a.IsRoutable() {
		return nil
	}
	e := &api.CatalogEntry{
		AllocID: a.ID, Namespace: a.Namespace, JobID: a.JobID, Group: a.Group, Instance: a.Index(),
		NodeID: a.NodeID, NodeName: a.NodeName, Index: a.ModifyIndex,
	}
	for _, r := range a.Serving.Services {
		if r == nil {
			continue
		}
		c := *r
		c.CreateIndex, c.ModifyIndex = a.CreateIndex, a.ModifyIndex
		if c.Tags == nil {
			c.Tags = []string{}
		}
		e.Services = append(e.Services, &c)
	}
	e.Endpoints = endpoints(a)
	e.StackAddress = stackAddress(a)
	return e
}

// stackAddress returns the address of the port that callers of a stack use, or "" if the
// allocation has none.
func stackAddress(a *api.Allocation) string {
	if a.Job == nil || a.Job.Stack == nil {
		return ""
	}
	group, label, ok := a.Job.StackPort()
	if !ok || group != a.Group {
		return ""
	}
	address, _ := addressOf(a, a.PortMappings(), label)
	return address
}

// exposureOf returns the exposure of a stack that a route serves, or nil.
func exposureOf(job *api.Job, r *api.Route) *api.StackExposure {
	if job.Stack == nil {
		return nil
	}
	for _, e := range job.Stack.Expose {
		if e != nil && e.Host == r.Host {
			return e
		}
	}
	return nil
}

// endpoints finds where each of the group's routes leads. A route whose port the
// allocation has not leads nowhere.
func endpoints(a *api.Allocation) []*api.Endpoint {
	if a.Job == nil {
		return nil
	}
	g := a.Job.Group(a.Group)
	if g == nil || len(g.Routes) == 0 {
		return nil
	}
	ports := a.PortMappings()
	all := make([]*api.Endpoint, 0, len(g.Routes))
	for _, r := range g.Routes {
		if address, ok := addressOf(a, ports, r.Port); ok {
			all = append(all, &api.Endpoint{Route: r, Address: address, Exposure: exposureOf(a.Job, r)})
		}
	}
	return all
}

// addressOf returns the address of a port of an allocation.
func addressOf(a *api.Allocation, ports []api.PortMapping, label string) (address string, ok bool) {
	i := slices.IndexFunc(ports, func(p api.PortMapping) bool { return p.Label == label })
	if i < 0 {
		return "", false
	}
	host := ports[i].HostIP
	if isNowhere(host) {
		host = elsewhere(a, ports)
	}
	return net.JoinHostPort(host, strconv.Itoa(ports[i].Value)), true
}

// isNowhere reports whether an address says only "on every address here".
func isNowhere(address string) bool {
	return address == "" || address == "0.0.0.0" || address == "::"
}

// elsewhere is an address of the allocation's node that something else of the
// allocation is known by: loopback when nothing is.
func elsewhere(a *api.Allocation, ports []api.PortMapping) string {
	for _, p := range ports {
		if !isNowhere(p.HostIP) {
			return p.HostIP
		}
	}
	for _, r := range a.Serving.Services {
		if r != nil && !isNowhere(r.Address) {
			return r.Address
		}
	}
	return "127.0.0.1"
}

// IsSame reports whether two entries of one allocation say the same, whenever
// they were made.
func IsSame(a, b *api.CatalogEntry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.AllocID == b.AllocID && a.Namespace == b.Namespace && a.JobID == b.JobID && a.Group == b.Group &&
		a.Instance == b.Instance && a.NodeID == b.NodeID && a.NodeName == b.NodeName && a.Zone == b.Zone && a.StackAddress == b.StackAddress &&
		slices.EqualFunc(a.Services, b.Services, IsSameService) && slices.EqualFunc(a.Endpoints, b.Endpoints, isSameEndpoint)
}

// IsSameService reports whether two registrations say the same.
func IsSameService(a, b *api.ServiceRegistration) bool {
	return a.ID == b.ID && a.ServiceName == b.ServiceName && a.Namespace == b.Namespace && a.NodeID == b.NodeID &&
		a.Datacenter == b.Datacenter && a.JobID == b.JobID && a.AllocID == b.AllocID && a.Address == b.Address &&
		a.Port == b.Port && a.Weight == b.Weight && a.Instance == b.Instance && a.Zone == b.Zone &&
		slices.Equal(a.Tags, b.Tags) && maps.Equal(a.Meta, b.Meta)
}

func isSameEndpoint(a, b *api.Endpoint) bool {
	return a.Address == b.Address && (a.Route == b.Route || isSameRoute(a.Route, b.Route)) && isSameExposure(a.Exposure, b.Exposure)
}

func isSameExposure(a, b *api.StackExposure) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func isSameRoute(a, b *api.Route) bool {
	x, y := *a, *b
	x.Weight, y.Weight = nil, nil
	return x == y && weight(a) == weight(b)
}

func weight(r *api.Route) int {
	if r.Weight == nil {
		return 1
	}
	return *r.Weight
}
