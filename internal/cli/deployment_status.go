// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func deploymentStatusCommand(c *cli) *command {
	var (
		monitor bool
		wide    bool
	)
	return &command{
		use:    "status DEPLOYMENT",
		short:  "Show the groups and allocations of a deployment",
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&monitor, "monitor", false, "follow the deployment until it ends; exit 1 unless it succeeds")
			f.BoolVar(&wide, "verbose", false, "show full ids")
		},
		run: func(r *call) error {
			id := r.args[0]
			d, _, err := r.cl.Deployments().Get(r.ctx, id, nil)
			if err != nil {
				return err
			}
			if monitor && r.format.forPeople() {
				m := c.monitor(r.cl.WithNamespace(d.Namespace), d.JobID, wide)
				defer m.out.Done()
				return m.deployment(r.ctx, d)
			}
			return c.showDeployment(r.ctx, r.cl, d, r.format, wide)
		},
	}
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
		if err != nil && api.CodeOf(err) != api.CodeNotFound { // older servers have no troubles
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
