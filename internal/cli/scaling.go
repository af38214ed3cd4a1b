// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func scalingCommand(c *cli) *command {
	return &command{
		use:   "scaling",
		short: "List scaling policies",
		long: `The scaling block of a group limits its count: the servers reject other counts.
Its policy is for an external autoscaler; Reeve only stores it.`,
		verbs: []constructor{scalingPolicyCommand},
	}
}

func scalingPolicyCommand(c *cli) *command {
	return &command{
		use:   "policy",
		short: "List scaling policies, or show one",
		long: `Every group with a scaling block has a policy. Its id does not change while the
group keeps its name.`,
		verbs: []constructor{scalingPolicyListCommand, scalingPolicyInfoCommand},
	}
}

func scalingPolicyListCommand(c *cli) *command {
	var (
		job  string
		kind string
		wide bool
	)
	return &command{
		use:     "list",
		short:   "List scaling policies by job and group",
		example: "reeve scaling policy list -job web",
		format:  true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&job, "job", "", "list only policies of the job `ID`")
			f.StringVar(&kind, "type", "", "list only policies of `TYPE`; the only type is \"horizontal\"")
			f.BoolVar(&wide, "verbose", false, "show full ids")
		},
		run: func(r *call) error {
			q := client.QueryOptions{Params: map[string][]string{}}
			if job != "" {
				q.Params.Set("job", job)
			}
			if kind != "" {
				q.Params.Set("type", kind)
			}
			policies, err := listAll(r.ctx, q, r.cl.Scaling().List)
			if err != nil {
				return err
			}
			return r.show(policies, func(p *term.Page) { view.ScalingPolicies(p, policies, wide) })
		},
	}
}

func scalingPolicyInfoCommand(c *cli) *command {
	return &command{
		use:    "info POLICY",
		short:  "Show a scaling policy",
		format: true,
		run: func(r *call) error {
			id, err := resolve(r.ctx, r.cl, "scaling policy", r.args[0], r.cl.Scaling().List, func(s *api.ScalingPolicyStub) match {
				return match{s.ID, "of group " + s.Target["Group"] + " of job " + s.Target["Job"]}
			})
			if err != nil {
				return err
			}
			s, _, err := r.cl.Scaling().Get(r.ctx, id, nil)
			if err != nil {
				return err
			}
			return r.show(s, func(p *term.Page) { view.ScalingPolicy(p, s) })
		},
	}
}
