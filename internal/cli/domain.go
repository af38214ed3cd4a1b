// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func domainCommand(c *cli) *command {
	return &command{
		use:   "domain",
		short: "List fresh domains, and mark domains as fresh",
		long: `A domain is a set of jobs with one owner. Jobs set it with domain; other jobs
are in the domain "". While a domain is fresh, its owner guarantees that all of
its jobs are registered. Servers stop orphans of fresh domains only.`,
		verbs: []constructor{domainListCommand, domainFreshCommand, domainStaleCommand},
	}
}

func domainListCommand(c *cli) *command {
	var q client.QueryOptions
	var all bool
	return &command{
		use:    "list",
		short:  "List fresh domains",
		format: true,
		flags: func(f *pflag.FlagSet) {
			addListFlags(f, &q)
			f.BoolVar(&all, "all", false, "include domains that are no longer fresh")
		},
		run: func(r *call) error {
			of := r.cl.Domains().List
			if all {
				of = r.cl.Domains().ListAll
			}
			list, err := listAll(r.ctx, q, of)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No domain is fresh.")
					return
				}
				view.Domains(p, list, c.Now())
			})
		},
	}
}

func domainFreshCommand(c *cli) *command {
	var req api.DomainRequest
	return &command{
		use:   "fresh DOMAIN",
		short: "Mark a domain as fresh: all of its jobs are registered",
		long: `Mark a domain as fresh, for the duration of -ttl or without limit. Servers then
stop allocations of the domain that belong to no registered job.`,
		example: `reeve domain fresh -ttl 2m cf-apps
reeve domain fresh ""`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.TTL, "ttl", "", "expire after `DURATION`, such as 20s, or a number of seconds (default: never)")
		},
		check: func(r *call) error { return req.Validate(r.args[0]) },
		run: func(r *call) error {
			if _, err := r.cl.Domains().Mark(r.ctx, r.args[0], &req); err != nil {
				return err
			}
			until := "without limit"
			if d, _ := api.ParseTTL(req.TTL); d > 0 {
				until = "for " + d.String()
			}
			fmt.Fprintf(c.Stdout, "Domain %q is fresh %s.\n", r.args[0], until)
			return nil
		},
	}
}

func domainStaleCommand(c *cli) *command {
	return &command{
		use:   "stale DOMAIN",
		short: "Mark a domain as stale",
		long: `End the freshness of a domain early. Servers then keep the domain's orphans
running. Explicit stops still work.`,
		example: `reeve domain stale cf-apps`,
		run: func(r *call) error {
			if _, err := r.cl.Domains().End(r.ctx, r.args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Domain %q is stale.\n", r.args[0])
			return nil
		},
	}
}
