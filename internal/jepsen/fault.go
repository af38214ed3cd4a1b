// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"

	"github.com/reeve-run/reeve/api"
)

// A fault disturbs the servers of a cluster until it is healed.
type fault struct {
	name    string
	targets func(leader int, r *rand.Rand) []int
	inject  func(c *cluster, target int) error
	heal    func(c *cluster, target int) error
}

// faults lists all faults.
var faults = []fault{
	{"none", noServer, nil, nil},
	{"kill-leader", theLeader, (*cluster).kill, (*cluster).restart},
	{"kill-follower", aFollower, (*cluster).kill, (*cluster).restart},
	{"kill-all", everyServer, (*cluster).kill, (*cluster).restart},
	{"stop-leader", theLeader, signal(syscall.SIGSTOP), signal(syscall.SIGCONT)},
	{"stop-follower", aFollower, signal(syscall.SIGSTOP), signal(syscall.SIGCONT)},
	{"partition-leader", theLeader, (*cluster).disconnect, (*cluster).connect},
	{"partition-follower", aFollower, (*cluster).disconnect, (*cluster).connect},
	{"mute-leader", theLeader, (*cluster).mute, (*cluster).unmute},
	{"mute-follower", aFollower, (*cluster).mute, (*cluster).unmute},
	{"deafen-leader", theLeader, (*cluster).deafen, (*cluster).undeafen},
	{"deafen-follower", aFollower, (*cluster).deafen, (*cluster).undeafen},
}

// FaultNames lists the names of all faults.
func FaultNames() []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}

// findFaults returns the faults with the names; all faults for no names.
func findFaults(names []string) ([]fault, error) {
	if len(names) == 0 {
		return faults, nil
	}
	var found []fault
	for _, name := range names {
		i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
		if i < 0 {
			return nil, api.Errorf(api.CodeInvalid, "fault %q is unknown: choose from %s", name, strings.Join(FaultNames(), ", "))
		}
		found = append(found, faults[i])
	}
	return found, nil
}

func noServer(int, *rand.Rand) []int { return nil }

func theLeader(leader int, _ *rand.Rand) []int { return []int{leader} }

func aFollower(leader int, r *rand.Rand) []int {
	return []int{(leader + 1 + r.IntN(servers-1)) % servers}
}

func everyServer(int, *rand.Rand) []int {
	var all []int
	for i := range servers {
		all = append(all, i)
	}
	return all
}

// injectAll injects a fault on its targets.
func (f fault) injectAll(c *cluster, targets []int) error {
	for _, target := range targets {
		if err := f.inject(c, target); err != nil {
			return fmt.Errorf("inject %s on server %d: %w", f.name, target, err)
		}
	}
	return nil
}

// healAll ends a fault on its targets.
func (f fault) healAll(c *cluster, targets []int) error {
	var errs []error
	for _, target := range targets {
		if err := f.heal(c, target); err != nil {
			errs = append(errs, fmt.Errorf("heal %s on server %d: %w", f.name, target, err))
		}
	}
	return errors.Join(errs...)
}

func (c *cluster) kill(target int) error {
	c.all[target].Kill()
	return nil
}

func (c *cluster) restart(target int) error { return c.all[target].Start() }

func signal(s syscall.Signal) func(*cluster, int) error {
	return func(c *cluster, target int) error { return syscall.Kill(c.all[target].PID(), s) }
}

func (c *cluster) disconnect(target int) error { return c.net.Hosts()[target].Disconnect() }
func (c *cluster) connect(target int) error    { return c.net.Hosts()[target].Connect() }

// mute drops the packets that a server sends to the others.
func (c *cluster) mute(target int) error {
	hosts := c.net.Hosts()
	return c.withOthers(target, func(other int) error { return hosts[target].Block(hosts[other]) })
}

func (c *cluster) unmute(target int) error {
	hosts := c.net.Hosts()
	return c.withOthers(target, func(other int) error { return hosts[target].Unblock(hosts[other]) })
}

// deafen drops the packets that the others send to a server.
func (c *cluster) deafen(target int) error {
	hosts := c.net.Hosts()
	return c.withOthers(target, func(other int) error { return hosts[other].Block(hosts[target]) })
}

func (c *cluster) undeafen(target int) error {
	hosts := c.net.Hosts()
	return c.withOthers(target, func(other int) error { return hosts[other].Unblock(hosts[target]) })
}

// withOthers calls act for each server except for one.
func (c *cluster) withOthers(target int, act func(other int) error) error {
	var errs []error
	for i := range c.all {
		if i != target {
			errs = append(errs, act(i))
		}
	}
	return errors.Join(errs...)
}

// awaitWrites returns when a write through each server has succeeded.
func (c *cluster) awaitWrites(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i, m := range c.all {
		err := m.Poll(ctx, pollInterval, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, opTimeout)
			defer cancel()
			_, err := m.Client.NodePools().Put(ctx, &api.NodePool{Name: "recovered", Description: fmt.Sprint("server ", i)})
			return err
		})
		if err != nil {
			return fmt.Errorf("no write through server %d succeeded within %s after the fault: %w", i, patience, err)
		}
	}
	return nil
}
