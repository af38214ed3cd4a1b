// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

const (
	clientsPerServer = 6
	readersPerServer = 4               // of the clients; their reads wait at a stopped leader, which may answer them from old data
	opTimeout        = 8 * time.Second // longer than a fault: a request to a stopped server waits for its answer
	pace             = 10 * time.Millisecond
	pollInterval     = 20 * time.Millisecond
)

// A load sends operations to all servers.
type load struct {
	history   *history
	registers []register
	round     string
	values    *atomic.Int64 // counts the values of a run: each is written once

	mu    sync.Mutex
	acked []string // ids of registered jobs that no later operation changes
}

// run sends operations until ctx ends, and waits for their outcomes.
func (l *load) run(ctx context.Context, c *cluster, seed uint64) {
	var running sync.WaitGroup
	for i := range clientsPerServer * len(c.all) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		reads := i/len(c.all) < readersPerServer
		running.Go(func() { l.client(ctx, i, c.all[i%len(c.all)].Client, r, reads) })
	}
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
		switch kind := r.IntN(100); {
		case reads:
			l.do(opRead, id, c, &l.registers[i], &seen[i])
		case kind < 8:
			l.register(c, fmt.Sprintf("set-%s-%d-%d", l.round, id, n))
		case kind < 20:
			l.do(opRead, id, c, &l.registers[i], &seen[i])
		case kind < 50 || l.registers[i].cas == nil:
			l.do(opWrite, id, c, &l.registers[i], &seen[i])
		default:
			l.do(opCAS, id, c, &l.registers[i], &seen[i])
		}
	}
}

// lateReads is the number of concurrent reads that burst sends through each server.
const lateReads = 16

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
func (l *load) register(c *client.Client, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	if _, err := c.Jobs().Register(ctx, &api.RegisterJobRequest{Job: emptyJob(id, id)}); err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.acked = append(l.acked, id)
	}
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
	case isRefused(err):
		return err
	case kind == opCAS && api.CodeOf(err) == api.CodeConflict:
		o.Result = resultConflict
	default:
		o.Result, o.Error = resultUnknown, err.Error()
	}
	l.history.add(o)
	return err
}

// isRefused reports whether the connection to the client's own server was refused, so that no
// server received the request.
func isRefused(err error) bool {
	var none *client.NoAnswer
	return errors.As(err, &none) && errors.Is(none.Source(), syscall.ECONNREFUSED)
}

// readAll reads all registers through every server. The reads end the histories: they show
// whether acknowledged writes were lost.
func (l *load) readAll(ctx context.Context, c *cluster) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i, m := range c.all {
		for j := range l.registers {
			var seen uint64
			err := m.Poll(ctx, pollInterval, func(context.Context) error {
				return l.do(opRead, clientsPerServer*len(c.all)+i, m.Client, &l.registers[j], &seen)
			})
			if err != nil {
				return fmt.Errorf("read the %s through server %d after the fault: %w", l.registers[j].name, i, err)
			}
		}
	}
	return nil
}
