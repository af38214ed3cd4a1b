// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/plantree"
)

// lifePlans are the plans that lead a stack to its traffic, in their order.
var lifePlans = []string{api.PlanDeploy, api.PlanWarming, api.PlanShift}

// isOnItsWay reports whether the plans are those of a stack that does not have its traffic yet.
func isOnItsWay(list []*api.Plan) bool {
	isLife := func(pl *api.Plan) bool { return pl.Name == api.PlanWarming || pl.Name == api.PlanShift }
	return nextOfLife(list) != "" && slices.ContainsFunc(list, func(pl *api.Plan) bool { return isLife(pl) && !pl.IsCustom() })
}

// nextOfLife returns the first plan of a stack that leads to its traffic and is not complete, or "".
func nextOfLife(list []*api.Plan) string {
	for _, name := range lifePlans {
		if slices.ContainsFunc(list, func(pl *api.Plan) bool { return pl.Name == name && plantree.IsUnderWay(pl) }) {
			return name
		}
	}
	return ""
}

// watchLife follows the plans of a stack one after the other, until it has its traffic.
func (c *cli) watchLife(ctx context.Context, cl *client.Client, stack string) error {
	for {
		list, _, err := cl.Plans().OfJob(ctx, stack, nil)
		if err != nil {
			return err
		}
		name := nextOfLife(list)
		if name == "" {
			return c.lifeEnded(ctx, cl, stack)
		}
		w := c.planWatch(cl, stack, name)
		w.listed = true
		if err := w.run(ctx); err != nil {
			return err
		}
	}
}

// lifeEnded reports the state that a followed stack has reached. It returns an error if the stack is not
// ready.
func (c *cli) lifeEnded(ctx context.Context, cl *client.Client, name string) error {
	s, _, err := cl.Stacks().Get(ctx, name, nil)
	if err != nil {
		return err
	}
	if s.Status != api.StackReady {
		return fmt.Errorf("stack %s is %s: %s", s.Name, s.Shown, s.StatusText())
	}
	fmt.Fprintf(c.Stdout, "Stack %s is %s.\n", s.Name, s.Shown)
	return nil
}
