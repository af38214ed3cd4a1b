// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func deploymentSetHealthCommand(c *cli) *cobra.Command {
	var healthy, unhealthy []string
	cmd := c.deploymentChange("set-health", "Say by hand which allocations are healthy",
		`Says which of a deployment's allocations are healthy and which are not: for
groups whose update block has health_check = "manual", and against what checks
say for the others.`,
		"knows their health", func(ctx context.Context, cl *client.Client, id string) (*api.DeploymentResponse, error) {
			if len(healthy)+len(unhealthy) == 0 {
				return nil, usagef("say which allocations: -healthy or -unhealthy, with their ids")
			}
			for _, list := range [][]string{healthy, unhealthy} {
				for i, prefix := range list {
					whole, err := c.resolveAllocation(ctx, cl, prefix)
					if err != nil {
						return nil, err
					}
					list[i] = whole
				}
			}
			return cl.Deployments().SetHealth(ctx, id, healthy, unhealthy)
		})
	cmd.Example = "reeve deployment set-health -healthy 5e6f7a8b -healthy 9c0d1e2f 1a2b3c4d"
	cmd.Flags().StringSliceVar(&healthy, "healthy", nil, "the allocation `ID` is healthy; several times")
	cmd.Flags().StringSliceVar(&unhealthy, "unhealthy", nil, "the allocation `ID` is not; several times")
	return cmd
}
