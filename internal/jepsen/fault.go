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
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/failpoint"
	"github.com/reeve-run/reeve/internal/testbed/network"
)

// A fault disturbs the servers of a cluster until it is healed.
type fault struct {
	name    string
	targets func(c *cluster, leader int, r *rand.Rand) []int
	inject  func(ctx context.Context, s *scene) error
	heal    func(ctx context.Context, s *scene) error
	kind    kind
	needs   need
}

// A kind says what a fault disturbs.
type kind int

const (
	calmKind    kind = iota // nothing
	processKind             // ends, stops or restarts processes
	linkKind
	diskKind
	clockKind
	memberKind // changes members, or all data
	logKind    // damages the log of one server: the others must have all entries
)

// A need is a property of a cluster without which a fault is impossible.
type need int

const (
	nothing    need = iota
	failpoints      // binaries with the tag faults
	oldBinary       // a binary of an earlier version
)

// A scene is a round's fault on its targets.
type scene struct {
	*cluster
	load    *load
	targets []int
	leader  int          // at the start of the round
	random  *rand.Rand   // not for concurrent use
	note    func(string) // adds to the history
}

// faults lists all faults.
var faults = []fault{
	{"none", noServer, nil, nil, calmKind, nothing},
	{"kill-leader", theLeader, kill, restart, processKind, nothing},
	{"kill-follower", aFollower, kill, restart, processKind, nothing},
	{"kill-minority", aMinority, kill, restart, processKind, nothing},
	{"kill-all", everyServer, kill, restart, processKind, nothing},
	{"stop-leader", theLeader, signal(syscall.SIGSTOP), signal(syscall.SIGCONT), processKind, nothing},
	{"stop-follower", aFollower, signal(syscall.SIGSTOP), signal(syscall.SIGCONT), processKind, nothing},
	{"stop-all", everyServer, signal(syscall.SIGSTOP), signal(syscall.SIGCONT), processKind, nothing},
	{"partition-leader", theLeader, disconnect, connect, linkKind, nothing},
	{"partition-follower", aFollower, disconnect, connect, linkKind, nothing},
	{"split", aMinority, split, unsplit, linkKind, nothing},
	{"mute-leader", theLeader, mute, unmute, linkKind, nothing},
	{"mute-follower", aFollower, mute, unmute, linkKind, nothing},
	{"deafen-leader", theLeader, deafen, undeafen, linkKind, nothing},
	{"deafen-follower", aFollower, deafen, undeafen, linkKind, nothing},
	{"slow-link-leader", theLeader, degrade(slowLink), improve, linkKind, nothing},
	{"slow-link-follower", aFollower, degrade(slowLink), improve, linkKind, nothing},
	{"lossy-link-leader", theLeader, degrade(lossyLink), improve, linkKind, nothing},
	{"stall-link-leader", theLeader, degrade(stalledLink), improve, linkKind, nothing},
	{"stall-link-follower", aFollower, degrade(stalledLink), improve, linkKind, nothing},
	{"corrupt-leader", theLeader, corrupt, restartCorrupt, logKind, nothing},
	{"corrupt-follower", aFollower, corrupt, restartCorrupt, logKind, nothing},
	{"replace-server", noServer, addServer, removeServer, memberKind, nothing},
	{"remove-leader", noServer, addLeader, removeServer, memberKind, nothing},
	{"restore", noServer, saveSnapshot, restoreSnapshot, memberKind, nothing},
	{"slow-disk-leader", theLeader, slowDisk, healDisk, diskKind, failpoints},
	{"slow-disk-follower", aFollower, slowDisk, healDisk, diskKind, failpoints},
	{"hang-disk-leader", theLeader, setDisk(failpoint.Hanging), healDisk, diskKind, failpoints},
	{"hang-disk-follower", aFollower, setDisk(failpoint.Hanging), healDisk, diskKind, failpoints},
	{"full-disk-leader", theLeader, setDisk(failpoint.Full), healDisk, diskKind, failpoints},
	{"full-disk-follower", aFollower, setDisk(failpoint.Full), healDisk, diskKind, failpoints},
	{"full-disk-all", everyServer, setDisk(failpoint.Full), healDisk, diskKind, failpoints},
	{"failing-disk-leader", theLeader, setDisk(failpoint.Broken), restartDisk, processKind, failpoints},
	{"failing-disk-follower", aFollower, setDisk(failpoint.Broken), restartDisk, processKind, failpoints},
	{"power-loss-leader", theLeader, kill, restart, processKind, failpoints},
	{"power-loss-all", everyServer, kill, restart, processKind, failpoints},
	{"clock-leader", theLeader, shiftClock(maxShift), resetClock, clockKind, failpoints},
	{"clock-follower", aFollower, shiftClock(maxShift), resetClock, clockKind, failpoints},
	{"drift-leader", theLeader, shiftClock(maxDrift), resetClock, clockKind, failpoints},
	{"downgrade-leader", theLeader, downgrade, upgrade, processKind, oldBinary},
	{"downgrade-follower", aFollower, downgrade, upgrade, processKind, oldBinary},
}

// Qualities of bad links.
var (
	slowLink    = network.Quality{Delay: 60 * time.Millisecond, Jitter: 120 * time.Millisecond}
	lossyLink   = network.Quality{Delay: time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 0.1}
	stalledLink = network.Quality{Stall: true}
)

// FaultNames lists the names of all faults.
func FaultNames() []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}

// findFaults returns the faults with the names, of which "A+B" are two at once; for no names, all that the
// cluster makes possible.
func findFaults(names []string, possible func(need) bool) ([]mix, error) {
	var found []mix
	if len(names) == 0 {
		for _, f := range faults {
			if possible(f.needs) {
				found = append(found, mix{f})
			}
		}
		return found, nil
	}
	for _, name := range names {
		var both mix
		for part := range strings.SplitSeq(name, "+") {
			f, err := findFault(part, possible)
			if err != nil {
				return nil, err
			}
			both = append(both, f)
		}
		if len(both) > 2 || len(both) == 2 && !both[0].mayOverlap(both[1]) {
			return nil, api.Errorf(api.CodeInvalid, "the faults of %q cannot overlap: choose two of different kinds, without none and the corrupt faults", name)
		}
		found = append(found, both)
	}
	return found, nil
}

func findFault(name string, possible func(need) bool) (fault, error) {
	i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
	switch {
	case i < 0:
		return fault{}, api.Errorf(api.CodeInvalid, "fault %q is unknown: choose from %s", name, strings.Join(FaultNames(), ", "))
	case !possible(faults[i].needs) && faults[i].needs == failpoints:
		return fault{}, api.Errorf(api.CodeInvalid, "fault %q needs a binary with failpoints: set -failpoints", name)
	case !possible(faults[i].needs):
		return fault{}, api.Errorf(api.CodeInvalid, "fault %q needs a binary of an earlier version: set -old-binary", name)
	}
	return faults[i], nil
}

func noServer(*cluster, int, *rand.Rand) []int { return nil }

func theLeader(_ *cluster, leader int, _ *rand.Rand) []int { return []int{leader} }

func aFollower(c *cluster, leader int, r *rand.Rand) []int {
	return []int{(leader + 1 + r.IntN(len(c.all)-1)) % len(c.all)}
}

// aMinority returns the largest minority, of random servers.
func aMinority(c *cluster, _ int, r *rand.Rand) []int {
	return r.Perm(len(c.all))[:(len(c.all)-1)/2]
}

func everyServer(c *cluster, _ int, _ *rand.Rand) []int {
	var all []int
	for i := range c.all {
		all = append(all, i)
	}
	return all
}

// each returns a function that acts on each target. It acts on all of them even if one fails.
func each(act func(c *cluster, target int) error) func(context.Context, *scene) error {
	return func(_ context.Context, s *scene) error {
		var errs []error
		for _, target := range s.targets {
			if err := act(s.cluster, target); err != nil {
				errs = append(errs, fmt.Errorf("server %d: %w", target, err))
			}
		}
		return errors.Join(errs...)
	}
}
