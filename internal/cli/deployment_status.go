// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func deploymentStatusCommand(c *cli) *cobra.Command {
	var (
		f       format
		monitor bool
		wide    bool
	)
	cmd := &cobra.Command{
		Use:               "status DEPLOYMENT",
		Short:             "Show a deployment: its groups' progress and its allocations",
		Args:              exactly(1, "DEPLOYMENT"),
		ValidArgsFunction: c.completeIDs(api.SearchDeployments),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := c.resolveDeployment(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			d, _, err := cl.Deployments().Get(cmd.Context(), id, nil)
			if err != nil {
				return err
			}
			if monitor && f.forPeople() {
				m := c.monitor(cl.WithNamespace(d.Namespace), d.JobID, wide)
				defer m.out.Done()
				return m.deployment(cmd.Context(), d)
			}
			return c.showDeployment(cmd.Context(), cl, d, f, wide)
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&monitor, "monitor", false, "follow the deployment until it ends; exit 1 when it does not succeed")
	cmd.Flags().BoolVar(&wide, "verbose", false, "show whole ids")
	return cmd
}

func (c *cli) showDeployment(ctx context.Context, cl *client.Client, d *api.Deployment, f format, wide bool) error {
	if !f.forPeople() {
		return c.show(f, d, nil)
	}
	allocs, _, err := cl.Deployments().Allocations(ctx, d.ID, withResources())
	if err != nil {
		return err
	}
	view.SortAllocations(allocs)
	wrong := d.Troubles
	if d.IsActive() {
		wrong, _, err = cl.WithNamespace(d.Namespace).Jobs().Troubles(ctx, d.JobID, ofVersion(d.JobVersion))
		if err != nil && api.CodeOf(err) != api.CodeNotFound { // of a server that is older than this command
			return err
		}
	}
	return c.show(f, d, func(p *term.Page) {
		view.Deployment(p, d, wide)
		view.Troubles(p, d.JobID, wrong)
		if len(allocs) > 0 {
			p.Section("Allocations")
			view.Allocations(p, allocs, wide)
		}
	})
}
