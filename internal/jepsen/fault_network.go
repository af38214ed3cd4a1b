// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"slices"

	"github.com/reeve-run/reeve/internal/testbed/network"
)

var (
	disconnect = each(func(c *cluster, target int) error { return c.net.Hosts()[target].Disconnect() })
	connect    = each(func(c *cluster, target int) error { return c.net.Hosts()[target].Connect() })
	improve    = each(func(c *cluster, target int) error { return c.net.Hosts()[target].Improve() })
)

// degrade gives the links of servers a bad quality.
func degrade(q network.Quality) func(context.Context, *scene) error {
	return each(func(c *cluster, target int) error { return c.net.Hosts()[target].Degrade(q) })
}

// mute drops the packets that the targets send to the other servers.
func mute(_ context.Context, s *scene) error {
	return s.between(func(target, other *network.Host) error { return target.Block(other) })
}

func unmute(_ context.Context, s *scene) error {
	return s.between(func(target, other *network.Host) error { return target.Unblock(other) })
}

// deafen drops the packets that the other servers send to the targets.
func deafen(_ context.Context, s *scene) error {
	return s.between(func(target, other *network.Host) error { return other.Block(target) })
}

func undeafen(_ context.Context, s *scene) error {
	return s.between(func(target, other *network.Host) error { return other.Unblock(target) })
}

// split separates the targets from the other servers. The servers of each side reach each other.
func split(ctx context.Context, s *scene) error { return errors.Join(mute(ctx, s), deafen(ctx, s)) }
func unsplit(ctx context.Context, s *scene) error {
	return errors.Join(unmute(ctx, s), undeafen(ctx, s))
}

// between calls act for each pair of a target and another server.
func (s *scene) between(act func(target, other *network.Host) error) error {
	var errs []error
	hosts := s.net.Hosts()
	for _, target := range s.targets {
		for other := range s.all {
			if !slices.Contains(s.targets, other) {
				errs = append(errs, act(hosts[target], hosts[other]))
			}
		}
	}
	return errors.Join(errs...)
}
