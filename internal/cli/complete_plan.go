// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// completePlans completes a job, one of its plans, a phase of the plan, and a step of
// the phase. It offers plans that match; nil matches all.
func (c *cli) completePlans(match func(*api.Plan) bool) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		complete := idsOf(api.SearchJobs)
		if len(args) > 0 {
			complete = func(r *call, _ string) ([]string, error) { return planParts(r.ctx, r.cl, r.args, match), nil }
		}
		return c.completeFrom(cmd, args, prefix, complete)
	}
}

// planParts lists the names that can follow a job, a plan or a phase.
func planParts(ctx context.Context, cl *client.Client, args []string, wanted func(*api.Plan) bool) []string {
	var names []string
	if len(args) == 1 {
		list, _, err := cl.Plans().OfJob(ctx, args[0], nil)
		if err != nil {
			return nil
		}
		for _, pl := range list {
			if wanted == nil || wanted(pl) {
				names = append(names, pl.Name)
			}
		}
		return names
	}
	pl, _, err := cl.Plans().Get(ctx, args[0], args[1], nil)
	if err != nil {
		return nil
	}
	for _, phase := range pl.Phases {
		switch {
		case len(args) == 2:
			names = append(names, phase.Name)
		case len(args) == 3 && (phase.Name == args[2] || phase.ID == args[2]):
			for _, s := range phase.Steps {
				names = append(names, s.Name)
			}
		}
	}
	return names
}
