// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func routeCommand(c *cli) *command {
	return &command{
		use:   "route",
		short: "List routes and certificates",
		long: `A route maps a host and path, or a port of the router, to the instances of a
group. A route belongs to one job, unless several jobs declare it as shared.`,
		verbs: []constructor{routeListCommand, routeCertificatesCommand},
	}
}

func routeListCommand(c *cli) *command {
	return &command{
		use:   "list [JOB]",
		short: "List routes with their jobs and routable instances",
		long: `List routes by host and path. "Routable" is the number of the group's instances
that receive traffic, of its count. "Share" is the group's part of the traffic
of a route that several groups or jobs share.`,
		format: true,
		run: func(r *call) error {
			q := &client.QueryOptions{}
			if len(r.args) > 0 {
				id, of, err := c.resolveJob(r.ctx, r.cl, r.args[0])
				if err != nil {
					return err
				}
				r.cl, q.Params = of, url.Values{"job": {id}}
			}
			list, _, err := r.cl.Routes().List(r.ctx, q)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No routes.")
					return
				}
				var rows [][]string
				for _, r := range list {
					routable := fmt.Sprintf("%d of %d", r.Routable, r.Total)
					if r.Routable == 0 {
						routable = p.Style.Red(routable)
					}
					rows = append(rows, []string{r.Claim, r.Route.Protocol, r.JobID, r.Group, r.Route.Port, strconv.Itoa(r.Weight), fmt.Sprintf("%.0f%%", 100*r.Share), routable})
				}
				p.Table([]string{"Route", "Protocol", "Job", "Group", "Port", "Weight", "Share", "Routable"}, rows)
			})
		},
	}
}
