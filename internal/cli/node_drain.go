// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// drainFlags holds the flags of "node drain".
type drainFlags struct {
	enable, disable, monitor, detach     bool
	self, yes, wide                      bool
	force, noDeadline, ignoreSystem, out bool
	deadline                             time.Duration
	message                              string
	meta                                 []string
}

func nodeDrainCommand(c *cli) *command {
	var d drainFlags
	return &command{
		use:   "drain [NODE]",
		short: "Drain a node: move its allocations to other nodes",
		long: `Start or end the drain of a node. Without -enable, -disable or -monitor, show
the progress of the drain and what each allocation waits for.

A draining node is ineligible for new allocations. Instances of services migrate
according to their group's migrate block: the next one after the previous
replacement is healthy. Batch jobs run until they end. System jobs stop last. An
allocation stays if its replacement cannot be placed. At the deadline, the
servers stop all remaining allocations immediately.

The drain is complete when every task has stopped. The command follows it until
then; Ctrl-C ends only the command.`,
		example: `reeve node drain -enable -deadline 30m -m "new kernel" worker-3
reeve node drain worker-3
reeve node drain -disable worker-3`,
		format: true,
		flags:  d.addTo,
		check:  func(r *call) error { return d.check(r.flags, r.args) },
		run: func(r *call) error {
			id, err := r.nodeOrSelf(d.self)
			if err != nil {
				return err
			}
			switch {
			case d.monitor:
				return c.followDrain(r.ctx, r.cl, id, 0, d.wide)
			case !d.enable && !d.disable:
				return c.showDrain(r.ctx, r.cl, id, r.format, d.wide)
			}
			return c.drainNode(r.ctx, r.cl, id, &d)
		},
	}
}

func (d *drainFlags) addTo(f *pflag.FlagSet) {
	f.BoolVar(&d.enable, "enable", false, "start the drain, or change its options")
	f.BoolVar(&d.disable, "disable", false, "end the drain, and make the node eligible again")
	f.DurationVar(&d.deadline, "deadline", time.Hour, "stop the remaining allocations after `D`")
	f.BoolVar(&d.force, "force", false, "stop all allocations immediately")
	f.BoolVar(&d.noDeadline, "no-deadline", false, "wait without limit")
	f.BoolVar(&d.ignoreSystem, "ignore-system", false, "keep allocations of system jobs running")
	f.BoolVar(&d.out, "keep-ineligible", false, "with -disable: keep the node ineligible")
	f.StringVarP(&d.message, "message", "m", "", "record `TEXT` as the reason of the drain")
	f.StringArrayVar(&d.meta, "meta", nil, "record `NAME=VALUE` with the drain; repeatable")
	f.BoolVar(&d.monitor, "monitor", false, "only follow the current drain")
	f.BoolVar(&d.detach, "detach", false, "do not follow the drain")
	f.BoolVar(&d.self, "self", false, "select the node of the contacted agent")
	f.BoolVarP(&d.yes, "yes", "y", false, "do not ask for confirmation")
	f.BoolVar(&d.wide, "verbose", false, "show full ids")
}

func (d *drainFlags) check(flags *pflag.FlagSet, args []string) error {
	chosen := 0
	for _, b := range []bool{d.enable, d.disable, d.monitor} {
		if b {
			chosen++
		}
	}
	terms := 0
	for _, b := range []bool{d.force, d.noDeadline, flags.Changed("deadline")} {
		if b {
			terms++
		}
	}
	switch {
	case len(args) == 0 && !d.self:
		return usagef("missing argument NODE; or set -self")
	case chosen > 1:
		return usagef("choose one of -enable, -disable and -monitor")
	case terms > 1:
		return usagef("choose one of -deadline, -force and -no-deadline")
	case !d.enable && (terms > 0 || d.ignoreSystem):
		return usagef("-deadline, -force, -no-deadline and -ignore-system need -enable")
	case !d.disable && d.out:
		return usagef("-keep-ineligible needs -disable")
	case d.deadline <= 0:
		return usagef("-deadline %s is not above 0; -force stops all allocations immediately", d.deadline)
	}
	for _, pair := range d.meta {
		if name, _, ok := strings.Cut(pair, "="); !ok || name == "" {
			return usagef("-meta %q is not NAME=VALUE", pair)
		}
	}
	return nil
}

func (d *drainFlags) request() *api.NodeDrainRequest {
	req := &api.NodeDrainRequest{MarkEligible: d.disable && !d.out}
	if d.enable {
		req.DrainSpec = &api.DrainSpec{Deadline: d.deadline, IgnoreSystemJobs: d.ignoreSystem}
		switch {
		case d.force:
			req.DrainSpec.Deadline = -1
		case d.noDeadline:
			req.DrainSpec.Deadline = 0
		}
	}
	for _, pair := range d.meta {
		if req.Meta == nil {
			req.Meta = map[string]string{}
		}
		name, value, _ := strings.Cut(pair, "=")
		req.Meta[name] = value
	}
	if d.message != "" {
		if req.Meta == nil {
			req.Meta = map[string]string{}
		}
		req.Meta["message"] = d.message
	}
	return req
}

// drainNode starts or ends a drain, and follows a started one.
func (c *cli) drainNode(ctx context.Context, cl *client.Client, id string, d *drainFlags) error {
	n, _, err := cl.Nodes().Get(ctx, id, nil)
	if err != nil {
		return err
	}
	if d.enable && !d.yes && term.IsTerminal(c.Stdin) {
		if err := c.confirm(fmt.Sprintf("Drain node %s (%s)?", api.ShortID(id), n.Name)); err != nil {
			return err
		}
	}
	req := d.request()
	req.NodeID = id
	resp, err := cl.Nodes().Drain(ctx, id, req)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s (%s)", api.ShortID(id), n.Name)
	switch {
	case d.disable && d.out:
		fmt.Fprintf(c.Stdout, "Ended the drain of node %s; the node stays ineligible.\n", name)
		return nil
	case d.disable:
		fmt.Fprintf(c.Stdout, "Ended the drain of node %s; the node is eligible again.\n", name)
		return nil
	case d.detach:
		fmt.Fprintf(c.Stdout, "Node %s drains %s.\n", name, drainTerms(req.DrainSpec))
		return nil
	}
	fmt.Fprintf(c.Stderr, "Node %s drains %s\n", name, drainTerms(req.DrainSpec))
	return c.followDrain(ctx, cl, id, resp.NodeModifyIndex, d.wide)
}

func drainTerms(s *api.DrainSpec) string {
	text := "without a deadline"
	switch {
	case s.Deadline < 0:
		text = "immediately"
	case s.Deadline > 0:
		text = "with a deadline of " + human.Duration(s.Deadline)
	}
	if s.IgnoreSystemJobs {
		text += ", without system jobs"
	}
	return text
}

func (c *cli) showDrain(ctx context.Context, cl *client.Client, id string, f format, wide bool) error {
	s, _, err := cl.Nodes().DrainStatus(ctx, id, nil)
	if err != nil {
		return err
	}
	return c.show(f, s, func(p *term.Page) {
		if s.DrainStrategy == nil {
			p.Line("Node %s is not draining.", api.ShortID(id))
			view.LastDrain(p, s.LastDrain)
			return
		}
		view.Drain(p, s, wide)
	})
}
