// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Bounds of the phases of a round.
const (
	lateBurst = 50 * time.Millisecond  // of reads before the end of the fault
	calm      = 400 * time.Millisecond // of load before and after the fault
	minFault  = time.Second
	maxFault  = 4 * time.Second // below the time after which a silent node counts as lost
)

// round injects one fault or two under load, heals them, and checks the promises.
func (r *run) round(ctx context.Context, number int, x mix, all []mix, random *rand.Rand) error {
	h := newHistory()
	found, name, err := r.disturb(ctx, number, x, all, random, h)
	if _, tooLong := errors.AsType[*impatience](err); tooLong {
		h.note(err.Error())
		found.add(err)
	} else if err != nil {
		return fmt.Errorf("round %d (%s): %w; notes: %v", number, name, err, h.notes)
	}
	return r.record(number, name, h, found)
}

// disturb does the work of a round. It returns what it found, and the names of the faults.
func (r *run) disturb(ctx context.Context, number int, x mix, all []mix, random *rand.Rand, h *history) (found findings, faults string, err error) {
	name := fmt.Sprint(number)
	l := &load{history: h, registers: registersOf(name), round: name, values: &r.values}
	leader, err := r.cluster.leader(ctx)
	if err != nil {
		return found, x.name(), err
	}
	note := func(text string) {
		h.note(text)
		r.Logger.Info(text, "round", number)
	}
	injected, err := r.draw(x, all, scene{cluster: r.cluster, load: l, leader: leader, random: random, note: note})
	if err != nil {
		return found, x.name(), err
	}
	x = injected.mix()
	lasts := minFault + time.Duration(random.Int64N(int64(maxFault-minFault)))
	through := r.cluster.all[random.IntN(len(r.cluster.all))]
	work := &duties{cluster: r.cluster, name: name}
	if !x.idle() {
		if err := work.begin(ctx); err != nil {
			return found, x.name(), fmt.Errorf("begin the work: %w", err)
		}
	}
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	seed := random.Uint64()
	running.Go(func() { l.run(loading, r.cluster, seed) })

	l.burst(r.cluster, injected.targets(), &running) // opens connections for the next one
	pass(ctx, calm)
	h.note(fmt.Sprintf("server %d leads; %s for %s", leader, injected, lasts.Round(time.Millisecond)))
	r.Logger.Info("fault", "round", number, "fault", injected.String(), "leader", leader, "lasts", lasts.Round(time.Millisecond))
	failed := injected.inject(ctx)
	if !x.idle() {
		running.Go(func() {
			ctx, cancel := context.WithTimeout(loading, opTimeout)
			defer cancel()
			// The outcome may be unknown: the registration after the fault repeats it.
			_ = registerChurn(ctx, through, name)
			work.act(ctx, through)
		})
	}
	pass(ctx, lasts)
	l.burst(r.cluster, injected.targets(), &running)
	pass(ctx, lateBurst)
	if err := errors.Join(failed, injected.heal(ctx)); err != nil {
		return found, x.name(), err
	}
	note("healed")
	if found.add(r.cluster.awaitWrites(ctx)); found.clean() {
		note("writes succeed through all servers")
	}
	pass(ctx, calm)
	stop()
	running.Wait()
	if found.clean() {
		found = r.check(ctx, l, name)
	}
	if found.clean() && !x.idle() {
		found = work.check(ctx)
	}
	return found, x.name(), nil
}
