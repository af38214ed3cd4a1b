// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

const (
	allClients   = 18              // over all servers
	writers      = 6               // of them; the others only read: their reads wait at a stopped leader, which may answer them from old data
	opTimeout    = 8 * time.Second // longer than a fault: a request to a stopped server waits for its answer
	pace         = 10 * time.Millisecond
	pollInterval = 20 * time.Millisecond
	afterError   = 100 * time.Millisecond // pause of a client: unknown outcomes make histories hard to check
)

// A load sends operations to all servers.
type load struct {
	history   *history
	registers []register
	round     string
	values    *atomic.Int64 // counts the values of a run: each is written once

	mu     sync.Mutex
	acked  []registration
	erased erasure // by a restore
}

// A registration is an acknowledged registration of a job that no later operation changes.
type registration struct {
	job              string
	called, returned time.Duration // since the start of the round
}

// kept returns the jobs whose registrations no restore erased.
func (l *load) kept() (jobs []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.acked {
		if l.erased == (erasure{}) || !l.erased.covers(a.called, a.returned) {
			jobs = append(jobs, a.job)
		}
	}
	return jobs
}

func (l *load) erase(e erasure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erased = e
}

// whole records an operation on all registers and locks.
func (l *load) whole(o operation) {
	o.Client = harnessClient
	for _, r := range l.registers {
		o.Register = r.name
		l.history.add(o)
	}
	for _, name := range lockNames() {
		o.Register = name
		l.history.add(o)
	}
}

// harnessClient is the number of the harness among the clients of a history.
const harnessClient = 2000

// run sends operations until ctx ends, and waits for their outcomes.
func (l *load) run(ctx context.Context, c *cluster, seed uint64) {
	var running sync.WaitGroup
	for i := range allClients {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		reads := i < allClients-writers
		running.Go(func() { l.client(ctx, i, c.all[i%len(c.all)].Client, r, reads) })
	}
	running.Go(func() { l.runLocks(ctx, c, seed) })
	running.Wait()
}

// client sends one operation after the other through one server; only reads if reads is set.
func (l *load) client(ctx context.Context, id int, c *client.Client, r *rand.Rand, reads bool) {
	seen := make([]uint64, len(l.registers)) // newest index by register
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		i := r.IntN(len(l.registers))
		var err error
		switch kind := r.IntN(100); {
		case reads:
			err = l.do(opRead, id, c, &l.registers[i], &seen[i])
		case kind < 8:
			err = l.register(c, fmt.Sprintf("set-%s-%d-%d", l.round, id, n))
		case kind < 20:
			err = l.do(opRead, id, c, &l.registers[i], &seen[i])
		case kind < 50 || l.registers[i].cas == nil:
			err = l.do(opWrite, id, c, &l.registers[i], &seen[i])
		default:
			err = l.do(opCAS, id, c, &l.registers[i], &seen[i])
		}
		if err != nil && api.CodeOf(err) != api.CodeConflict {
			pass(ctx, afterError)
		}
	}
}

// lateReads is the number of concurrent reads that burst sends through each server.
const lateReads = 32

// burst reads through servers at the same time. A server that is stopped during a
// burst may answer it from data that is older than the writes before the burst.
func (l *load) burst(c *cluster, targets []int, running *sync.WaitGroup) {
	for _, target := range targets {
		for i := range lateReads {
			running.Go(func() {
				var seen uint64
				// The history holds the outcome.
				_ = l.do(opRead, 1000+i, c.all[target].Client, &l.registers[i%len(l.registers)], &seen)
			})
		}
	}
}

// register registers a job that must exist in the end if the registration is acknowledged.
func (l *load) register(c *client.Client, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	called := l.history.now()
	if _, err := c.Jobs().Register(ctx, &api.RegisterJobRequest{Job: emptyJob(id, id)}); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked = append(l.acked, registration{id, called, l.history.now()})
	return nil
}

// do calls an operation and records its outcome. seen is the newest index that the client knows.
func (l *load) do(kind string, id int, c *client.Client, r *register, seen *uint64) error {
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	o := operation{Register: r.name, Client: id, Kind: kind, Result: resultOK}
	var err error
	if kind != opRead {
		o.Value = strconv.FormatInt(l.values.Add(1), 10)
	}
	o.Call = l.history.now()
	switch kind {
	case opRead:
		o.Value, o.Index, err = r.read(ctx, c)
	case opWrite:
		o.Index, err = r.write(ctx, c, o.Value)
	case opCAS:
		o.Expected = *seen
		o.Index, err = r.cas(ctx, c, o.Value, o.Expected)
	}
	o.Return = l.history.now()
	switch {
	case err == nil:
		*seen = o.Index
	case isRefused(err), strings.Contains(err.Error(), notMade):
		return err // without effect: a read of the value would be a violation
	case kind == opCAS && api.CodeOf(err) == api.CodeConflict:
		o.Result = resultConflict
	default:
		o.Result, o.Error = resultUnknown, err.Error()
	}
	l.history.add(o)
	return err
}

// notMade is the part of an error with which a server states that a change has no effect.
const notMade = "the change was not made"

// isRefused reports whether the connection to the client's own server was refused, so that no
// server received the request.
func isRefused(err error) bool {
	var none *client.NoAnswer
	return errors.As(err, &none) && errors.Is(none.Source(), syscall.ECONNREFUSED)
}

// readAll reads all registers through every server. The reads end the histories: they show
// whether acknowledged writes were lost.
func (l *load) readAll(ctx context.Context, c *cluster) error {
	for i, m := range c.all {
		for j := range l.registers {
			var seen uint64
			err := await(ctx, m, pollInterval, func(context.Context) error {
				return l.do(opRead, allClients+i, m.Client, &l.registers[j], &seen)
			})
			if err != nil {
				return fmt.Errorf("read the %s through server %d after the fault: %w", l.registers[j].name, i, err)
			}
		}
	}
	return nil
}
