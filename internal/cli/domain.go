// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func domainCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "domain",
		Short: "See which domains are fresh, and say so",
		Long: `A domain is a set of jobs that one consumer owns: jobs name it with domain, and
those that name none are in the domain "". While a domain is fresh, its owner
vouches that all of its jobs are registered. Only then is an instance stopped
because no job wants it.`,
	}, domainListCommand, domainFreshCommand, domainStaleCommand)
}

func domainListCommand(c *cli) *cobra.Command {
	var f format
	var q client.QueryOptions
	var all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the domains that are fresh",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			of := cl.Domains().List
			if all {
				of = cl.Domains().ListAll
			}
			list, err := listAll(cmd.Context(), q, of)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No domain is fresh.")
					return
				}
				view.Domains(p, list, c.Now())
			})
		},
	}
	f.addTo(cmd.Flags())
	addListFlags(cmd, &q)
	cmd.Flags().BoolVar(&all, "all", false, "also those that are not fresh any more")
	return cmd
}

func domainFreshCommand(c *cli) *cobra.Command {
	var ttl string
	cmd := &cobra.Command{
		Use:   "fresh DOMAIN",
		Short: "Vouch that all jobs of a domain are registered",
		Long: `Marks a domain as fresh: for ever, or for the time that -ttl says. Whatever of
it runs and is wanted by no registered job is stopped then.`,
		Example: `reeve domain fresh -ttl 2m cf-apps
reeve domain fresh ""`,
		Args: exactly(1, "DOMAIN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := &api.DomainRequest{TTL: ttl}
			if err := req.Validate(args[0]); err != nil {
				return err
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			if _, err := cl.Domains().Mark(cmd.Context(), args[0], req); err != nil {
				return err
			}
			until := "for ever"
			if d, _ := api.ParseTTL(ttl); d > 0 {
				until = "for " + d.String()
			}
			fmt.Fprintf(c.Stdout, "Domain %q is fresh %s.\n", args[0], until)
			return nil
		},
	}
	cmd.Flags().StringVar(&ttl, "ttl", "", "for how long: a `DURATION` such as 20s, or a number of seconds; for ever when absent")
	return cmd
}

func domainStaleCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "stale DOMAIN",
		Short: "End the freshness of a domain",
		Long: `Ends the freshness of a domain before its time. From then on nothing of it is
stopped because no job wants it; what is stopped explicitly still is.`,
		Example: `reeve domain stale cf-apps`,
		Args:    exactly(1, "DOMAIN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			if _, err := cl.Domains().End(cmd.Context(), args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Domain %q is stale.\n", args[0])
			return nil
		},
	}
}
