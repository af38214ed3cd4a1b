// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"net"
	"net/http"
	"slices"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// endpoint holds the addresses of the service's pods under one name.
type endpoint struct {
	name    string
	group   string
	port    string // label
	address []string
}

// endpoints returns the job's services and ports, by name: a port has the name of its
// label unless services name it.
func (q *request) endpoints() ([]*endpoint, error) {
	var all []*endpoint
	for _, g := range q.job.Groups {
		named := map[string]bool{}
		for _, s := range servicesOf(g) {
			if s.PortLabel != "" && s.Name != "" {
				all = append(all, &endpoint{name: s.Name, group: g.Name, port: s.PortLabel})
				named[s.PortLabel] = true
			}
		}
		for _, n := range g.Networks {
			for _, port := range slices.Concat(n.ReservedPorts, n.DynamicPorts) {
				if !named[port.Label] {
					all = append(all, &endpoint{name: port.Label, group: g.Name, port: port.Label})
				}
			}
		}
	}
	pods, err := q.pods()
	for _, e := range all {
		for _, p := range pods {
			if p.Group == e.group {
				e.add(q, p.allocation)
			}
		}
	}
	return all, err
}

// add adds the addresses of a running allocation.
func (e *endpoint) add(q *request, a *api.Allocation) {
	if a == nil || a.ClientStatus != api.AllocClientRunning || a.AllocatedResources == nil {
		return
	}
	for _, port := range a.AllocatedResources.Shared.Ports {
		if port.Label != e.port {
			continue
		}
		host := port.HostIP
		if n := q.v.Node(a.NodeID); host == "" && n != nil {
			host = addressOf(n)
		}
		e.address = append(e.address, net.JoinHostPort(host, strconv.Itoa(port.Value)))
	}
}

func servicesOf(g *api.Group) []*api.Service {
	all := slices.Clone(g.Services)
	for _, t := range g.Tasks {
		all = append(all, t.Services...)
	}
	return all
}

func listEndpoints(q *request) error {
	endpoints, err := q.endpoints()
	if err != nil {
		return err
	}
	names := []string{}
	for _, e := range endpoints {
		if !slices.Contains(names, e.name) {
			names = append(names, e.name)
		}
	}
	slices.Sort(names)
	return q.json(http.StatusOK, names)
}

func getEndpoint(q *request) error {
	endpoints, err := q.endpoints()
	if err != nil {
		return err
	}
	body := struct {
		Address []string `json:"address"`
		DNS     []string `json:"dns"`
	}{Address: []string{}, DNS: []string{}}
	found := false
	for _, e := range endpoints {
		if e.name == q.r.PathValue("endpoint") {
			found = true
			body.Address = append(body.Address, e.address...)
		}
	}
	if !found {
		return failf(http.StatusNotFound, "")
	}
	return q.json(http.StatusOK, body)
}
