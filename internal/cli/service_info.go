// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func serviceInfoCommand(c *cli) *cobra.Command {
	var (
		f      format
		q      client.QueryOptions
		tags   []string
		choose string
		wide   bool
	)
	cmd := &cobra.Command{
		Use:   "info SERVICE",
		Short: "Show who offers a service now, and where",
		Args:  exactly(1, "SERVICE"),
		Example: `reeve service info web
reeve service info -tag blue -choose '1|client-17' web`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			q.Params = map[string][]string{}
			for _, tag := range tags {
				q.Params.Add("tag", tag)
			}
			if choose != "" {
				q.Params.Set("choose", choose)
			}
			list, _, err := cl.Services().Get(cmd.Context(), args[0], &q)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *page) {
				if len(list) == 0 {
					p.line("Nobody offers service %q now.", args[0])
					return
				}
				p.registrations(list, wide)
			})
		},
	}
	f.addTo(cmd.Flags())
	addListFlags(cmd, &q)
	cmd.Flags().StringArrayVar(&tags, "tag", nil, "only those with `TAG`; several times: with all of them")
	cmd.Flags().StringVar(&choose, "choose", "", "only some of them, as `'N|KEY'`: the same for a key as long as they are there")
	cmd.Flags().BoolVar(&wide, "verbose", false, "show whole ids")
	return cmd
}

// registrations writes who offers a service.
func (p *page) registrations(list []*api.ServiceRegistration, wide bool) {
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
			dash(strings.Join(r.Tags, ", ")), short(r.NodeID), short(r.AllocID)}
		if zones { // one that all have in common says nothing
			row = append(row, dash(r.Zone))
		}
		rows = append(rows, row)
	}
	p.table(head, rows)
}
