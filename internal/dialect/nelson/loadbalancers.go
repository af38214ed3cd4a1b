// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A loadbalancer is a host that a major version of a unit exposes.
type loadbalancer struct {
	Name         string      `json:"name"`
	GUID         string      `json:"guid"`
	Namespace    string      `json:"namespace"`
	Datacenter   string      `json:"datacenter"`
	Address      string      `json:"address"`
	MajorVersion uint32      `json:"major_version"`
	DeployTime   int64       `json:"deploy_time"`
	Routes       []lbRoute   `json:"routes"`
	Dependencies lbOutbounds `json:"dependencies"`
}

type lbRoute struct {
	BackendName          string `json:"backend_name"`
	BackendPortReference string `json:"backend_port_reference"`
	LBPort               int    `json:"lb_port"`
}

type lbOutbounds struct {
	Outbound []neighbour `json:"outbound"`
}

// An exposedHost identifies a load balancer.
type exposedHost struct {
	namespace, unit string
	major           uint32
	host            string
}

func hostOf(s *api.StackStatus, host string) exposedHost {
	return exposedHost{s.Namespace, s.Unit, s.Version.Major, host}
}

func (h exposedHost) guid() string {
	return derivedGUID("loadbalancer", h.namespace, h.unit, number(h.major), h.host)
}

func compareHosts(a, b exposedHost) int {
	return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.unit, b.unit), cmp.Compare(a.major, b.major), strings.Compare(a.host, b.host))
}

// owners returns the lowest major version of each unit that exposes a host: it receives the host's traffic.
func owners(stacks []*api.StackStatus) map[exposedHost]uint32 {
	lowest := make(map[exposedHost]uint32) // by host, without the major version
	for _, s := range stacks {
		if !s.IsRoutable() || s.Spec == nil {
			continue
		}
		for _, e := range s.Spec.Expose {
			h := exposedHost{s.Namespace, s.Unit, 0, e.Host}
			if major, known := lowest[h]; !known || s.Version.Major < major {
				lowest[h] = s.Version.Major
			}
		}
	}
	return lowest
}

// loadbalancers returns the hosts that live stacks expose.
func (q *request) loadbalancers() []*loadbalancer {
	p := places(q.core.Store().Snapshot())
	byHost := make(map[exposedHost]*loadbalancer)
	var hosts []exposedHost
	stacks := q.core.ListStacks()
	owner := owners(stacks)
	for _, s := range stacks {
		if !s.IsLive() || s.Spec == nil {
			continue
		}
		for _, e := range s.Spec.Expose {
			h := hostOf(s, e.Host)
			lb := byHost[h]
			if lb == nil {
				lb = &loadbalancer{
					Name: e.Host, GUID: h.guid(), Namespace: s.Namespace, Datacenter: p.first(s), Address: e.Host, MajorVersion: h.major,
					DeployTime: millis(s.DeployedAt), Routes: []lbRoute{{s.Unit, callersPort, 80}}, Dependencies: lbOutbounds{[]neighbour{}},
				}
				byHost[h] = lb
				hosts = append(hosts, h)
			}
			lb.DeployTime = min(lb.DeployTime, millis(s.DeployedAt))
			if s.IsRoutable() && owner[exposedHost{s.Namespace, s.Unit, 0, e.Host}] == s.Version.Major {
				lb.Dependencies.Outbound = append(lb.Dependencies.Outbound, stackNeighbour(s, s.Share))
			}
		}
	}
	slices.SortFunc(hosts, compareHosts)
	list := []*loadbalancer{}
	for _, h := range hosts {
		list = append(list, byHost[h])
	}
	return list
}

func listLoadbalancers(q *request) error {
	namespaces, given := q.words("ns")
	list := q.loadbalancers()
	if given {
		list = slices.DeleteFunc(list, func(lb *loadbalancer) bool { return !slices.Contains(namespaces, lb.Namespace) })
	}
	return q.json(http.StatusOK, list)
}

func getLoadbalancer(q *request) error {
	guid := q.r.PathValue("guid")
	for _, lb := range q.loadbalancers() {
		if lb.GUID == guid {
			return q.json(http.StatusOK, lb)
		}
	}
	return failf(http.StatusNotFound, "load balancer %q not found; list load balancers with: nelson lbs list", api.Printable(guid, 64))
}
