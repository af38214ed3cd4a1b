// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Registrations writes the instances of a service.
func Registrations(p *term.Page, list []*api.ServiceRegistration, wide bool) {
	short := api.ShortID
	if wide {
		short = func(id string) string { return id }
	}
	list = slices.SortedStableFunc(slices.Values(list), func(a, b *api.ServiceRegistration) int {
		return cmp.Or(cmp.Compare(a.JobID, b.JobID), cmp.Compare(a.Instance, b.Instance))
	})
	zones := slices.ContainsFunc(list, func(r *api.ServiceRegistration) bool { return r.Zone != list[0].Zone })
	head := []string{"Job", "Instance", "Address", "Tags", "Node", "Allocation"}
	if zones {
		head = append(head, "Zone")
	}
	var rows [][]string
	for _, r := range list {
		row := []string{r.JobID, strconv.Itoa(r.Instance), net.JoinHostPort(r.Address, strconv.Itoa(r.Port)),
			human.Dash(strings.Join(r.Tags, ", ")), short(r.NodeID), short(r.AllocID)}
		if zones { // a common zone is not informative
			row = append(row, human.Dash(r.Zone))
		}
		rows = append(rows, row)
	}
	p.Table(head, rows)
}

// Services writes a list of services.
func Services(p *term.Page, list []*api.ServiceListStub, namespaces bool) {
	var rows [][]string
	for _, n := range list {
		for _, s := range n.Services {
			row := []string{s.ServiceName, human.Dash(strings.Join(s.Tags, ", "))}
			if namespaces {
				row = append([]string{n.Namespace}, row...)
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		p.Line("No services have routable instances.")
		return
	}
	heading := []string{"Service", "Tags"}
	if namespaces {
		heading = append([]string{"Namespace"}, heading...)
	}
	p.Table(heading, rows)
}
