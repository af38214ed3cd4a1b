// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func allocStopCommand(c *cli) *cobra.Command {
	var noDelay, detach, wide bool
	cmd := &cobra.Command{
		Use:   "stop ALLOC",
		Short: "Stop an allocation; its instance is placed anew",
		Long: `Stops one allocation for good. Its job still wants the instance, so a new
allocation takes its place, perhaps on another node. To have fewer instances
use "job scale", to have none "job stop".`,
		Example:           "reeve alloc stop 3f2a",
		Args:              exactly(1, "ALLOC"),
		ValidArgsFunction: c.completeIDs(api.SearchAllocations),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			a, err := c.readAllocation(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			resp, err := cl.Allocations().Stop(cmd.Context(), a.ID, noDelay)
			if err != nil {
				return err
			}
			done := fmt.Sprintf("Allocation %s is told to stop", a)
			return c.follow(cmd.Context(), cl.WithNamespace(a.Namespace), a.JobID, done, resp.EvalID, detach, wide)
		},
	}
	addFollowFlags(cmd, &detach, &wide)
	cmd.Flags().BoolVar(&noDelay, "no-shutdown-delay", false, "do not wait the group's and tasks' shutdown delays")
	return cmd
}
