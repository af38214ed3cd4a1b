// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func serviceListCommand(c *cli) *cobra.Command {
	var f format
	var q client.QueryOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the services that are offered now, with their tags",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			list, err := listAll(cmd.Context(), q, cl.Services().List)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *page) { p.services(list, c.namespace() == "*") })
		},
	}
	f.addTo(cmd.Flags())
	addListFlags(cmd, &q)
	return cmd
}

// services writes the names of services.
func (p *page) services(list []*api.ServiceListStub, namespaces bool) {
	var rows [][]string
	for _, n := range list {
		for _, s := range n.Services {
			row := []string{s.ServiceName, dash(strings.Join(s.Tags, ", "))}
			if namespaces {
				row = append([]string{n.Namespace}, row...)
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		p.line("No services are offered now.")
		return
	}
	heading := []string{"Service", "Tags"}
	if namespaces {
		heading = append([]string{"Namespace"}, heading...)
	}
	p.table(heading, rows)
}
