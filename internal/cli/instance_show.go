// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func instanceShowCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:               "show JOB INSTANCE",
		Aliases:           []string{"status", "info"},
		Short:             "Show an instance and its tasks",
		Args:              between(2, 2, "JOB", "INSTANCE"),
		ValidArgsFunction: c.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, cl, err := c.resolveJob(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			i, _, err := cl.Instances().Get(cmd.Context(), id, args[1], nil)
			if err != nil {
				return err
			}
			return c.show(f, i, func(p *term.Page) { view.Instance(p, i) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}
