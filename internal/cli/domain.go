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
		short: "See which domains are fresh, and say so",
		long: `A domain is a set of jobs that one consumer owns: jobs name it with domain, and
those that name none are in the domain "". While a domain is fresh, its owner
vouches that all of its jobs are registered. Only then is an instance stopped
because no job wants it.`,
		verbs: []constructor{domainListCommand, domainFreshCommand, domainStaleCommand},
	}
}

func domainListCommand(c *cli) *command {
	var q client.QueryOptions
	var all bool
	return &command{
		use:    "list",
		short:  "List the domains that are fresh",
		format: true,
		flags: func(f *pflag.FlagSet) {
			addListFlags(f, &q)
			f.BoolVar(&all, "all", false, "also those that are not fresh any more")
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
		short: "Vouch that all jobs of a domain are registered",
		long: `Marks a domain as fresh: for ever, or for the time that -ttl says. Whatever of
it runs and is wanted by no registered job is stopped then.`,
		example: `reeve domain fresh -ttl 2m cf-apps
reeve domain fresh ""`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.TTL, "ttl", "", "for how long: a `DURATION` such as 20s, or a number of seconds; for ever when absent")
		},
		check: func(r *call) error { return req.Validate(r.args[0]) },
		run: func(r *call) error {
			if _, err := r.cl.Domains().Mark(r.ctx, r.args[0], &req); err != nil {
				return err
			}
			until := "for ever"
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
		short: "End the freshness of a domain",
		long: `Ends the freshness of a domain before its time. From then on nothing of it is
stopped because no job wants it; what is stopped explicitly still is.`,
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
