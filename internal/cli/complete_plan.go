// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// completePlans completes a job, one of its plans, a phase of that and a step
// of that. Only plans that are wanted are offered; nil wants all.
func (c *cli) completePlans(wanted func(*api.Plan) bool) completion {
	jobs := c.completeIDs(api.SearchJobs)
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return jobs(cmd, args, prefix)
		}
		cl, err := c.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
		defer cancel()
		var found []string
		for _, name := range planParts(ctx, cl, args, wanted) {
			if strings.HasPrefix(name, prefix) {
				found = append(found, name)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// planParts are the names that may follow a job, a plan or a phase.
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
