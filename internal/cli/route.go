// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func routeCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "route",
		Short: "Look at the router's routes",
		Long: `A route of a group is a host and path, or a port of the router. The router sends
its traffic to the group's instances. A route belongs to one job, unless several
jobs declare it as shared.`,
	}, routeListCommand)
}

func routeListCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "list [JOB]",
		Short: "List routes, their jobs, and how many instances receive their traffic",
		Long: `Lists routes by host and path. "Routable" counts the group's instances that
receive traffic, of those that should run. "Share" is the group's part of the
traffic of a route that several groups or jobs share.`,
		Args:              between(0, 1, "JOB"),
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			q := &client.QueryOptions{}
			if len(args) > 0 {
				id, of, err := c.resolveJob(cmd.Context(), cl, args[0])
				if err != nil {
					return err
				}
				cl, q.Params = of, url.Values{"job": {id}}
			}
			list, _, err := cl.Routes().List(cmd.Context(), q)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("There are no routes.")
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
	f.addTo(cmd.Flags())
	return cmd
}
