// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A mix is the fault of a round, or two that overlap.
type mix []fault

// overlapOdds is the number of rounds of which about one has two faults, unless faults are chosen.
const overlapOdds = 3

// name returns the names of the faults.
func (x mix) name() string {
	var names []string
	for _, f := range x {
		names = append(names, f.name)
	}
	return strings.Join(names, "+")
}

// idle reports whether no work is under way during the faults.
func (x mix) idle() bool { return slices.ContainsFunc(x, fault.idle) }

// mayOverlap reports whether two faults can be active at the same time on suitable targets. Rules of two
// link faults may be the same, so that healing one undoes the other. A damaged log is only repaired
// if the other servers have all entries.
func (f fault) mayOverlap(g fault) bool {
	for _, k := range []kind{f.kind, g.kind} {
		if k == calmKind || k == logKind {
			return false
		}
	}
	return f.kind != g.kind || f.kind != linkKind && f.kind != memberKind
}

// needsOwnTargets reports whether two faults exclude each other on one server: a process ends or stops
// once, and a server does not start on a bad disk.
func (f fault) needsOwnTargets(g fault) bool {
	return f.kind == g.kind || f.kind == processKind && g.kind == diskKind || f.kind == diskKind && g.kind == processKind
}

// An injection is a fault with its targets.
type injection struct {
	fault
	scene scene
}

// injections are the faults of a round in the order in which they begin. They end in reverse.
type injections []injection

// draw returns the injections of a round. Without chosen faults, some rounds get a second one.
func (r *run) draw(x mix, others []mix, at scene) (injections, error) {
	first := x[0].aim(at)
	switch {
	case len(x) == 2:
		second, ok := first.beside(x[1], at)
		if !ok {
			return nil, api.Errorf(api.CodeInvalid, "the faults %s cannot overlap: they have the same targets", x.name())
		}
		return order(first, second), nil
	case len(r.Faults) > 0 || at.random.IntN(overlapOdds) > 0:
		return injections{first}, nil
	}
	for _, i := range at.random.Perm(len(others)) {
		if second, ok := first.beside(others[i][0], at); ok {
			return order(first, second), nil
		}
	}
	return injections{first}, nil
}

// aim returns the fault with random targets.
func (f fault) aim(at scene) injection {
	at.targets = f.targets(at.cluster, at.leader, at.random)
	return injection{f, at}
}

// targetTries is the number of random targets that a second fault may try.
const targetTries = 8

// beside returns a second fault with targets that suit the first one.
func (i injection) beside(g fault, at scene) (injection, bool) {
	if !i.mayOverlap(g) {
		return injection{}, false
	}
	for range targetTries {
		second := g.aim(at)
		common := slices.ContainsFunc(second.scene.targets, func(t int) bool { return slices.Contains(i.scene.targets, t) })
		if !common || !i.needsOwnTargets(g) {
			return second, true
		}
	}
	return injection{}, false
}

// order returns two injections in the order in which they begin. A change of members or of all data needs a
// majority to begin and to end.
func order(a, b injection) injections {
	if b.kind == memberKind {
		a, b = b, a
	}
	return injections{a, b}
}

// mix returns the faults.
func (all injections) mix() (x mix) {
	for _, i := range all {
		x = append(x, i.fault)
	}
	return x
}

// targets returns the servers that any of the faults disturbs.
func (all injections) targets() (targets []int) {
	for _, i := range all {
		targets = append(targets, i.scene.targets...)
	}
	slices.Sort(targets)
	return slices.Compact(targets)
}

// String describes the faults and their targets.
func (all injections) String() string {
	var parts []string
	for _, i := range all {
		parts = append(parts, fmt.Sprintf("%s on servers %v", i.name, i.scene.targets))
	}
	return strings.Join(parts, ", ")
}

// inject begins the faults. If one fails, it does not begin the next.
func (all injections) inject(ctx context.Context) error {
	for _, i := range all {
		if i.fault.inject == nil {
			continue
		}
		if err := i.fault.inject(ctx, &i.scene); err != nil {
			return fmt.Errorf("%s: %w", i.name, err)
		}
	}
	return nil
}

// heal ends the faults.
func (all injections) heal(ctx context.Context) (err error) {
	for _, i := range slices.Backward(all) {
		if i.fault.heal != nil {
			if failed := i.fault.heal(ctx, &i.scene); failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", i.name, failed))
			}
		}
	}
	return err
}
