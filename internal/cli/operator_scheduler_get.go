// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func operatorSchedulerGetCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "get-config",
		Short: "Show how the cluster schedules",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			res, _, err := cl.Operator().SchedulerConfig(cmd.Context(), nil)
			if err != nil {
				return err
			}
			return c.show(f, res, func(p *term.Page) { view.SchedulerConfig(p, res.SchedulerConfig) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}
