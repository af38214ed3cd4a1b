// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// stacks deploys catalog and three versions of inventory: the first is deprecated, and traffic
// shifts from the second to the third.
func (f *Filler) stacks(ctx context.Context) error {
	catalog, err := f.load("catalog", nil)
	if err != nil {
		return err
	}
	first, err := f.inventory(oldInventory, "1s", "1")
	if err != nil {
		return err
	}
	if err := f.deployStacks(ctx, catalog.Job, first.Job); err != nil {
		return err
	}
	second, err := f.inventory(currentInventory, "1s", "2")
	if err != nil {
		return err
	}
	if err := f.deployStacks(ctx, second.Job); err != nil {
		return err
	}
	if err := f.await(ctx, "all traffic is on inventory "+currentInventory, func() error { return f.hasShare(ctx, currentInventory, 1) }); err != nil {
		return err
	}
	if _, err := f.Client.Units().Do(ctx, "inventory", "deprecate", &api.UnitVerbRequest{Version: "1.0", By: operator, Reason: "it counts halls twice"}); err != nil {
		return fmt.Errorf("deprecate inventory 1.0: %w", err)
	}
	third, err := f.inventory(newInventory, "30m", "2")
	if err != nil {
		return err
	}
	if err := f.deployStacks(ctx, third.Job); err != nil {
		return err
	}
	share := shiftedAtStart
	err = f.await(ctx, "traffic shifts to inventory "+newInventory, func() error {
		_, err := f.Client.Shifts().Do(ctx, "inventory", "set", &api.ShiftVerbRequest{Share: &share, By: operator, Reason: "begin with a part"})
		return err
	})
	if err != nil {
		return err
	}
	// A shift whose share was set waits for an operator.
	if _, err := f.Client.Shifts().Do(ctx, "inventory", "resume", &api.ShiftVerbRequest{By: operator}); err != nil {
		return fmt.Errorf("resume the shift of inventory: %w", err)
	}
	return nil
}

func (f *Filler) inventory(version, over, count string) (*File, error) {
	return f.load("inventory", map[string]string{"version": version, "over": over, "count": count})
}

// deployStacks deploys stacks together, and waits until they are ready.
func (f *Filler) deployStacks(ctx context.Context, jobs ...*api.Job) error {
	res, err := f.Client.Stacks().Deploy(ctx, &api.DeployStacksRequest{Jobs: jobs, By: operator})
	if err != nil {
		return fmt.Errorf("deploy the stack of %s: %w", jobs[0].ID, err)
	}
	for _, s := range res.Stacks {
		if err := f.await(ctx, s.Name+" is ready", func() error { return f.isReady(ctx, s.Name) }); err != nil {
			return err
		}
	}
	return nil
}

func (f *Filler) isReady(ctx context.Context, name string) error {
	s, _, err := f.Client.Stacks().Get(ctx, name, nil)
	if err == nil && s.Shown != api.StackReady && s.Shown != api.StackDeprecated {
		err = errors.New(s.Shown + ": " + s.Standing)
	}
	return err
}

// hasShare returns nil if a version of inventory has at least a share of the traffic.
func (f *Filler) hasShare(ctx context.Context, version string, share float64) error {
	list, _, err := f.Client.Stacks().List(ctx, "inventory", nil, nil)
	if err != nil {
		return err
	}
	for _, s := range list {
		if _, v, _, ok := api.ParseStackName(s.Name); ok && v.String() == version {
			if s.Share >= share {
				return nil
			}
			return fmt.Errorf("%s has %.0f %% of the traffic", s.Name, 100*s.Share)
		}
	}
	return fmt.Errorf("inventory %s is not deployed", version)
}
