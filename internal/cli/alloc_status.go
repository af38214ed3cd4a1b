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

// readAllocationStatus reads everything that "alloc status" shows. Checks and stats are
// absent if the node does not respond.
func (c *cli) readAllocationStatus(ctx context.Context, cl *client.Client, prefix string) (*view.AllocationStatus, error) {
	a, err := c.readAllocation(ctx, cl, prefix)
	if err != nil {
		return nil, err
	}
	s := &view.AllocationStatus{Allocation: a}
	if a.ClientStatus == api.AllocClientRunning {
		s.Checks, _ = cl.Allocations().Checks(ctx, a.ID)
		s.Stats, _ = cl.Allocations().Stats(ctx, a.ID)
	}
	return s, nil
}

func allocStatusCommand(c *cli) *command {
	var wide bool
	return &command{
		use:   "status [ALLOC]",
		short: "List allocations, or show one with its tasks, events, ports and checks",
		example: `reeve alloc status 3f2a
reeve alloc status -t '{{range addresses .Allocation}}{{.}}{{end}}' 3f2a`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&wide, "verbose", false, "show full ids, and the scores of nodes")
			f.Bool("short", false, "accepted for compatibility")
		},
		run: func(r *call) error {
			if len(r.args) == 0 {
				return c.listAllocations(r.ctx, r.cl, r.format, wide)
			}
			s, err := c.readAllocationStatus(r.ctx, r.cl, r.args[0])
			if err != nil {
				return err
			}
			return r.show(s, func(p *term.Page) {
				view.Allocation(p, s, wide)
				view.AllocationNext(p, s.Allocation)
			})
		},
	}
}

func (c *cli) listAllocations(ctx context.Context, cl *client.Client, f format, wide bool) error {
	list, err := listAll(ctx, *withResources(), cl.Allocations().List)
	if err != nil {
		return err
	}
	view.SortAllocations(list)
	return c.show(f, list, func(p *term.Page) {
		if len(list) == 0 {
			p.Line("No allocations.")
			return
		}
		view.Allocations(p, list, wide)
	})
}
