// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func scalingCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "scaling",
		Short: "Look at the scaling policies that autoscalers go by",
		Long: `A group's scaling block bounds its count: nobody can register or scale it
beyond. Its policy is for an outside autoscaler; Reeve only hands it on.`,
	}, scalingPolicyCommand)
}

func scalingPolicyCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "policy",
		Short: "List scaling policies, or show one",
		Long: `Every group with a scaling block has a policy. Its id stays the same for as
long as the group keeps its name.`,
	}, scalingPolicyListCommand, scalingPolicyInfoCommand)
}

func scalingPolicyListCommand(c *cli) *cobra.Command {
	var (
		f    format
		job  string
		kind string
		wide bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List scaling policies by job and group",
		Args:    exactly(0, ""),
		Example: "reeve scaling policy list -job web",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			q := client.QueryOptions{Params: map[string][]string{}}
			if job != "" {
				q.Params.Set("job", job)
			}
			if kind != "" {
				q.Params.Set("type", kind)
			}
			policies, err := listAll(cmd.Context(), q, cl.Scaling().List)
			if err != nil {
				return err
			}
			return c.show(f, policies, func(p *term.Page) { view.ScalingPolicies(p, policies, wide) })
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().StringVar(&job, "job", "", "only those of the job with this `ID`")
	cmd.Flags().StringVar(&kind, "type", "", "only those of this `TYPE`; there is only \"horizontal\"")
	cmd.Flags().BoolVar(&wide, "verbose", false, "show whole ids")
	return cmd
}

func scalingPolicyInfoCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "info POLICY",
		Short: "Show a scaling policy",
		Args:  exactly(1, "POLICY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := resolve(cmd.Context(), cl, "scaling policy", args[0], cl.Scaling().List, func(s *api.ScalingPolicyStub) match {
				return match{s.ID, "of group " + s.Target["Group"] + " of job " + s.Target["Job"]}
			})
			if err != nil {
				return err
			}
			s, _, err := cl.Scaling().Get(cmd.Context(), id, nil)
			if err != nil {
				return err
			}
			return c.show(f, s, func(p *term.Page) { view.ScalingPolicy(p, s) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}
