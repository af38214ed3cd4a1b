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

	"github.com/reeve-run/reeve/api"
)

// Options configure a run.
type Options struct {
	Reeve      string        // the binary
	OldBinary  string        // the binary of an earlier version, for faults that change the version
	Failpoints bool          // reports whether the binary has failpoints
	Servers    int           // number of servers; 0: three or five, by the seed
	Seed       uint64        // of faults and operations
	Rounds     int           // number of rounds; 0: until Duration ends
	Duration   time.Duration // no round starts later
	Faults     []string      // names; none: all that the binaries make possible, in random order
	Dir        string        // of the histories of failed rounds
	Logger     *slog.Logger
}

// possible reports whether the options fulfil the need of a fault.
func (o *Options) possible(n need) bool {
	return n == nothing || n == failpoints && o.Failpoints || n == oldBinary && o.OldBinary != ""
}

// A Summary is the result of a run, and one line of the ledger.
type Summary struct {
	Time       time.Time // start of the run
	Commit     string
	Seed       uint64
	Servers    int  `json:",omitempty"` // 0 in lines of earlier harnesses: three
	Failpoints bool `json:",omitempty"`
	Seconds    int
	Rounds     int
	Faults     map[string]int // rounds by fault
	Operations int
	Unknown    int // operations with an unknown outcome
	Histories  int // checked
	Undecided  int // histories whose check took too long
	Violations []string
	// UndecidedRounds are the reasons why rounds decided nothing: a wait exceeded the harness's patience.
	UndecidedRounds []string `json:",omitempty"`
	Evidence        []string `json:",omitempty"` // files with the histories of failed rounds
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

// Run runs rounds until one violates a promise or decides nothing. An error means that the harness
// failed; a violation is part of the summary.
func Run(ctx context.Context, o Options) (_ *Summary, err error) {
	chosen, err := findFaults(o.Faults, o.possible)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	if o.Servers == 0 {
		o.Servers = 3 + 2*random.IntN(2)
	}
	r := &run{Options: o, summary: Summary{
		Time: time.Now().UTC().Truncate(time.Second), Seed: o.Seed, Servers: o.Servers, Failpoints: o.Failpoints, Faults: map[string]int{}, Violations: []string{},
	}}
	if r.cluster, err = newCluster(ctx, o); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.cluster.close()) }()
	r.values.Store(1000)
	if r.steady, err = startSteady(ctx, r.cluster); err != nil {
		return nil, err
	}
	if err := startDuties(ctx, r.cluster); err != nil {
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
	began, order := time.Now(), []int(nil)
	for i := 0; r.summary.clean() && ctx.Err() == nil && (o.Rounds == 0 || i < o.Rounds) && (o.Duration == 0 || time.Since(began) < o.Duration); i++ {
		if len(order) == 0 {
			order = random.Perm(len(chosen))
		}
		f := chosen[order[0]]
		order = order[1:]
		if err := r.round(ctx, i, f, chosen, random); err != nil {
			return nil, err
		}
	}
	r.summary.Seconds = int(time.Since(began).Seconds())
	return &r.summary, ctx.Err()
}

// replay returns the command that repeats the run up to a round.
func (r *run) replay(round int) string {
	command := fmt.Sprintf("go test ./internal/jepsen -run TestFaults -count=1 -timeout 0 -v -seed %d -servers %d -rounds %d", r.Seed, r.Servers, round+1)
	if r.Failpoints {
		command += " -failpoints"
	}
	if len(r.Faults) > 0 {
		command += " -faults " + strings.Join(r.Faults, ",")
	}
	return command
}

// manyErrors is the number of equal errors in a round that is logged.
const manyErrors = 20

// record adds a round to the summary, and saves the history of a failed one.
func (r *run) record(number int, name string, h *history, found findings) error {
	s := &r.summary
	s.Rounds++
	s.Faults[name]++
	s.Operations += len(h.operations)
	unknown, errs := 0, map[string]int{}
	for _, o := range h.operations {
		if o.Result == resultUnknown {
			unknown++
			errs[o.Error]++
		}
	}
	s.Unknown += unknown
	for text, n := range errs {
		if n > manyErrors {
			r.Logger.Warn("many operations have an unknown outcome", "round", number, "operations", n, "error", text)
		}
	}
	r.Logger.Info("round", "round", number, "fault", name, "operations", len(h.operations), "unknown", unknown, "violations", len(found.violations), "undecided", len(found.undecided))
	if found.clean() {
		return nil
	}
	evidence := failure{Seed: r.Seed, Round: number, Fault: name, Replay: r.replay(number), Violations: found.violations, Undecided: found.undecided, Notes: h.notes, Operations: h.operations}
	path, err := evidence.save(r.Dir)
	if err != nil {
		return errors.Join(api.Errorf(api.CodeInternal, "violations: %s; undecided: %s", strings.Join(found.violations, "; "), strings.Join(found.undecided, "; ")), fmt.Errorf("save the history: %w", err))
	}
	s.Evidence = append(s.Evidence, path)
	line := func(text string) string {
		return fmt.Sprintf("round %d (%s): %s%s%s; replay: %s", number, name, text, evidenceMark, path, evidence.Replay)
	}
	for _, v := range found.violations {
		s.Violations = append(s.Violations, line(v))
	}
	if len(found.undecided) > 0 && len(found.violations) == 0 {
		s.UndecidedRounds = append(s.UndecidedRounds, line(strings.Join(found.undecided, "; ")))
	}
	return nil
}

// clean reports whether no round violated a promise, and each decided.
func (s *Summary) clean() bool { return len(s.Violations)+len(s.UndecidedRounds) == 0 }

// pass returns after d, or when ctx ends.
func pass(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
