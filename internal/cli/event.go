// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func eventCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "event",
		Short: "Watch what happens",
		Long:  "Every change of a job, evaluation, allocation, deployment or node is an event.",
	}, eventStreamCommand)
}
