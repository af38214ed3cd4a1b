// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/reeve-run/reeve/api"
)

// Bounds of the phases of a round.
const (
	lateBurst = 50 * time.Millisecond  // of reads before the end of the fault
	calm      = 400 * time.Millisecond // of load before and after the fault
	minFault  = time.Second
	maxFault  = 4 * time.Second // below the time after which a silent node counts as lost
)

// Options configure a run.
type Options struct {
	Reeve    string        // the binary
	Seed     uint64        // of faults and operations
	Rounds   int           // number of rounds; 0: until Duration ends
	Duration time.Duration // no round starts later
	Faults   []string      // names; none: all, in random order
	Dir      string        // of the histories of failed rounds
	Logger   *slog.Logger
}

// A Summary is the result of a run, and one line of the ledger.
type Summary struct {
	Time       time.Time // start of the run
	Commit     string
	Seed       uint64
	Seconds    int
	Rounds     int
	Faults     map[string]int // rounds by fault
	Operations int
	Unknown    int // operations with an unknown outcome
	Histories  int // checked
	Undecided  int // histories whose check took too long
	Violations []string
	Evidence   []string `json:",omitempty"` // files with the histories of failed rounds
}

// A run is a cluster with the state of the harness between rounds.
type run struct {
	Options
	cluster *cluster
	mirrors []*mirror
	steady  map[int]string // processes that no fault may change
	values  atomic.Int64
	acked   []string
	summary Summary
}

// Run runs rounds until one violates a promise. An error means that the harness failed; a
// violation is part of the summary.
func Run(ctx context.Context, o Options) (_ *Summary, err error) {
	chosen, err := findFaults(o.Faults)
	if err != nil {
		return nil, err
	}
	r := &run{Options: o, summary: Summary{Time: time.Now().UTC().Truncate(time.Second), Seed: o.Seed, Faults: map[string]int{}, Violations: []string{}}}
	if r.cluster, err = newCluster(ctx, o.Reeve); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.cluster.close()) }()
	r.values.Store(1000)
	if r.steady, err = startSteady(ctx, r.cluster); err != nil {
		return nil, err
	}
	following, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for _, m := range r.cluster.all {
		view := &mirror{}
		r.mirrors = append(r.mirrors, view)
		running.Go(func() { view.follow(following, m.Client) })
	}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	began, order := time.Now(), []int(nil)
	for i := 0; len(r.summary.Violations) == 0 && ctx.Err() == nil && (o.Rounds == 0 || i < o.Rounds) && (o.Duration == 0 || time.Since(began) < o.Duration); i++ {
		if len(order) == 0 {
			order = random.Perm(len(chosen))
		}
		f := chosen[order[0]]
		order = order[1:]
		if err := r.round(ctx, i, f, random); err != nil {
			return nil, fmt.Errorf("round %d (%s): %w", i, f.name, err)
		}
	}
	r.summary.Seconds = int(time.Since(began).Seconds())
	return &r.summary, ctx.Err()
}

// replay returns the command that repeats the run up to a round.
func (r *run) replay(round int) string {
	command := fmt.Sprintf("go test ./internal/jepsen -run TestFaults -count=1 -timeout 0 -v -seed %d -rounds %d", r.Seed, round+1)
	if len(r.Faults) > 0 {
		command += " -faults " + strings.Join(r.Faults, ",")
	}
	return command
}

// round injects one fault under load, heals it, and checks the promises.
func (r *run) round(ctx context.Context, number int, f fault, random *rand.Rand) error {
	name := fmt.Sprint(number)
	h := newHistory()
	l := &load{history: h, registers: registersOf(name), round: name, values: &r.values}
	leader, err := r.cluster.leader(ctx)
	if err != nil {
		return err
	}
	targets, lasts := f.targets(leader, random), minFault+time.Duration(random.Int64N(int64(maxFault-minFault)))
	through := random.IntN(servers)
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	seed := random.Uint64()
	running.Go(func() { l.run(loading, r.cluster, seed) })

	l.burst(r.cluster, targets, &running) // opens connections for the next one
	pass(ctx, calm)
	h.note(fmt.Sprintf("server %d leads; %s on servers %v for %s", leader, f.name, targets, lasts.Round(time.Millisecond)))
	r.Logger.Info("fault", "round", number, "fault", f.name, "leader", leader, "servers", targets, "lasts", lasts.Round(time.Millisecond))
	injected := f.injectAll(r.cluster, targets)
	running.Go(func() {
		ctx, cancel := context.WithTimeout(loading, opTimeout)
		defer cancel()
		// The outcome may be unknown: the registration after the fault repeats it.
		_ = registerChurn(ctx, r.cluster.all[through], name)
	})
	pass(ctx, lasts)
	l.burst(r.cluster, targets, &running)
	pass(ctx, lateBurst)
	if err := errors.Join(injected, f.healAll(r.cluster, targets)); err != nil {
		return err
	}
	h.note("healed")
	var violations []string
	if err := r.cluster.awaitWrites(ctx); err != nil {
		violations = append(violations, err.Error())
	}
	h.note("writes succeed through all servers")
	pass(ctx, calm)
	stop()
	running.Wait()
	if len(violations) == 0 {
		violations = r.check(ctx, l, name)
	}
	return r.record(number, f, h, violations)
}

// check checks the promises after a fault.
func (r *run) check(ctx context.Context, l *load, name string) (violations []string) {
	if err := l.readAll(ctx, r.cluster); err != nil {
		return []string{err.Error()}
	}
	for register, operations := range l.history.byRegister() {
		r.summary.Histories++
		switch linearize(operations) {
		case porcupine.Illegal:
			violations = append(violations, fmt.Sprintf("the history of the register %s is not linearizable (%d operations)", register, len(operations)))
		case porcupine.Unknown:
			r.summary.Undecided++
		}
	}
	r.acked = append(r.acked, l.acked...)
	violations = append(violations, r.checkJobs(ctx)...)
	if err := registerChurn(ctx, r.cluster.all[0], name); err != nil {
		return append(violations, fmt.Sprintf("register the job %s after the fault: %v", churnJob, err))
	}
	return append(violations, checkTasks(ctx, r.cluster, r.steady)...)
}

// checkJobs compares the acknowledged registrations with the job list and the allocations of each
// server, and with the event streams.
func (r *run) checkJobs(ctx context.Context) (violations []string) {
	for i, m := range r.cluster.all {
		jobs, _, err := m.Client.Jobs().List(ctx, nil)
		if err != nil {
			return append(violations, fmt.Sprintf("list the jobs through server %d after the fault: %v", i, err))
		}
		listed := map[string]bool{}
		for _, j := range jobs {
			listed[j.ID] = true
		}
		var lost []string
		for _, id := range r.acked {
			if !listed[id] {
				lost = append(lost, id)
			}
		}
		if len(lost) > 0 {
			violations = append(violations, fmt.Sprintf("server %d does not list %d acknowledged jobs: %v", i, len(lost), lost))
		}
		waiting, cancel := context.WithTimeout(ctx, patience)
		err = m.Poll(waiting, pollInterval, func(context.Context) error {
			if missing := r.mirrors[i].missing(keys(listed)); len(missing) > 0 {
				return fmt.Errorf("the event stream of server %d does not show the jobs %v", i, missing)
			}
			return nil
		})
		cancel()
		if err != nil {
			violations = append(violations, err.Error())
		}
		if extra := r.mirrors[i].extra(listed); len(extra) > 0 {
			violations = append(violations, fmt.Sprintf("the event stream of server %d shows jobs that do not exist: %v", i, extra))
		}
		violations = append(violations, r.mirrors[i].takeViolations()...)
		list, _, err := m.Client.Allocations().List(ctx, nil)
		if err != nil {
			return append(violations, fmt.Sprintf("list the allocations through server %d after the fault: %v", i, err))
		}
		violations = append(violations, checkIndexes(list)...)
	}
	return violations
}

func keys(set map[string]bool) []string {
	var all []string
	for key := range set {
		all = append(all, key)
	}
	return all
}

// record adds a round to the summary, and saves the history of a failed one.
func (r *run) record(number int, f fault, h *history, violations []string) error {
	s := &r.summary
	s.Rounds++
	s.Faults[f.name]++
	s.Operations += len(h.operations)
	unknown := 0
	for _, o := range h.operations {
		if o.Result == resultUnknown {
			unknown++
		}
	}
	s.Unknown += unknown
	r.Logger.Info("round", "round", number, "fault", f.name, "operations", len(h.operations), "unknown", unknown, "violations", len(violations))
	if len(violations) == 0 {
		return nil
	}
	evidence := failure{Seed: r.Seed, Round: number, Fault: f.name, Replay: r.replay(number), Violations: violations, Notes: h.notes, Operations: h.operations}
	path, err := evidence.save(r.Dir)
	if err != nil {
		return errors.Join(api.Errorf(api.CodeInternal, "violations: %s", strings.Join(violations, "; ")), fmt.Errorf("save the history: %w", err))
	}
	s.Evidence = append(s.Evidence, path)
	for _, v := range violations {
		s.Violations = append(s.Violations, fmt.Sprintf("round %d (%s): %s; history: %s; replay: %s", number, f.name, v, path, evidence.Replay))
	}
	return nil
}

// pass returns after d, or when ctx ends.
func pass(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
